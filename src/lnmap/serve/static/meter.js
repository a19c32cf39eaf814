// Confidence as a bar and a number, or the note that there is none: for what a person said nothing is estimated.

import { el, percent } from "./dom.js";

/** Draw a probability; a given or marked pair gets a badge instead. */
export function meter(confidence, given, mark) {
  if (given && mark) return el("span", { class: "given", title: mark === "added" ? "a pair that somebody added" : "a pair that somebody marked right" }, mark);
  if (given) return el("span", { class: "given", title: "a pair that the model was given to learn from" }, "given");
  if (confidence === null) return el("span", { class: "quiet" }, "not calibrated");
  const bar = el("span", { class: "bar", "aria-hidden": "true" }, el("span"));
  bar.firstChild.style.inlineSize = `${(100 * confidence).toFixed(1)}%`;
  bar.dataset.level = confidence >= 0.7 ? "high" : confidence >= 0.35 ? "middle" : "low";
  return el("span", { class: "meter" }, bar, el("span", { class: "figure" }, percent(confidence)));
}
