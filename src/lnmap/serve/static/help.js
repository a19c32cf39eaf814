// What the numbers and signs of the page mean, in plain words.

import { el } from "./dom.js";

const MEANINGS = [
  ["Confidence", "How probable it is that the translation is right, learnt from words whose translations were known. Of the answers with 80 %, about four in five are right."],
  ["given", "A pair that you gave before the training. It comes first, and nothing is estimated."],
  ["right, added", "A pair that somebody marked right here, or added. It counts like a given one, at once."],
  ["Marked wrong", "The pair is left out of translations, of the lexicon and of every download, and the next best takes its place."],
  ["↩ word ✓", "What the translation is itself translated to. A tick means that this is the word you asked for, which is a good sign."],
  ["Closeness (cosine)", "How near the two words are to each other in the common space: 1 is the same place, 0 nothing in common."],
  ["Match (CSLS)", "Closeness, corrected for words that are close to everything. The order of the answers follows it, or the confidence where a model has learnt to judge."],
  ["Frequent and unsure first", "The words whose correction repairs most of a text: those that are frequent and whose answer is probably wrong."],
  ["Map", "The word, its neighbours and its translations, before the two languages were brought together and after."],
  ["Similarity of the two spaces", "How alike the two languages' vectors are in shape. The more alike, the easier the translation."],
];

export function showHelp(place, model, { link }) {
  place.append(
    el("h1", {}, "Help"),
    el("p", { class: "lead" }, "Look words up under ", el("a", { href: link("translate") }, "Translate"),
      ", answer the questions that help most under ", el("a", { href: link("ask") }, "Ask me"), ", correct and download the whole dictionary under ", el("a", { href: link("lexicon") }, "Lexicon"), "."),
    el("section", { class: "card", "aria-label": "How to correct" }, el("h2", {}, "How to correct"),
      el("ol", {},
        el("li", {}, "Press ✓ if a translation is right, ✗ if it is wrong, ✎ to choose or type the right one in its place. Pressing again takes it back."),
        el("li", {}, "Everything you mark counts at once, here, in downloads and on the command line."),
        el("li", {}, "Then press Train again under Lexicon: the words that nobody marked get better, too. It runs in the background."))),
    el("section", { class: "card", "aria-label": "What it means" }, el("h2", {}, "What it means"),
      el("dl", {}, ...MEANINGS.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]))));
  return {};
}
