"""The VecMap family.

`mapping` holds the multi-step map, `learning` the self-learning loop, `check` the test for failed runs, `presets` the
systems.
"""

from lnmap.methods.vecmap.presets import Artetxe2017, Artetxe2018Aaai, Artetxe2018Acl, VecmapSemi, VecmapSup

__all__ = ["Artetxe2017", "Artetxe2018Aaai", "Artetxe2018Acl", "VecmapSemi", "VecmapSup"]
