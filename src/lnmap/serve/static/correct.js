// Correction in place: choose another candidate, or type the right translation, where the wrong one stands.

import { get, post } from "./api.js";
import { combobox } from "./combobox.js";
import { el, say, signed, toast, word } from "./dom.js";
import { answering, asked, inLanguage } from "./languages.js";

const CHOICES = 6;

/** The button that opens and closes a correction. */
export function correctButton(pair, direction, onClick) {
  return el("button", {
    type: "button", class: "mark correct", title: "correct", "aria-expanded": "false",
    "aria-label": `Correct ${pair[asked(direction)]} – ${pair[answering(direction)]}`, click: onClick,
  }, signed("✎", "correct"));
}

/**
 * Make the form that replaces the answer of a pair. The right pair is marked first, so that nothing is dropped
 * unless there is something in its place. onDone gets the right pair and its mark, or nothing if it was given up.
 */
export function correction(model, pair, direction, onDone) {
  const from = asked(direction), to = answering(direction);
  const choices = el("span", { class: "choices" });
  const field = combobox({
    label: `Right translation of ${pair[from]}`, side: to, model, language: model[to].language,
    placeholder: `Another word ${inLanguage(model, to)}`, onChoose: (text) => save(text, "added"),
  });
  const form = el("form", { class: "correction", "aria-label": `Correct ${pair[from]}`, keydown: onKey, submit: (event) => {
    event.preventDefault();
    if (field.value) save(field.value, "added");
  } }, choices, field.box, el("button", { type: "submit", class: "main" }, "Save"),
  el("button", { type: "button", click: () => onDone() }, "Cancel"));
  let saving = false;

  async function save(text, mark) {
    if (saving) return;
    saving = true;
    try {
      const made = await post(model.id, "marks", { ...pair, [to]: text, mark });
      if (made[to] !== pair[to]) await post(model.id, "marks", { ...pair, mark: "wrong" });
      say(`${made[from]}: ${made[to]}`);
      onDone({ source: made.source, target: made.target }, mark);
    } catch (error) {
      toast(`The correction was not saved: ${error.message}`);
    }
    saving = false;
  }

  function onKey(event) {
    event.stopPropagation(); // letters are no commands here
    if (event.key === "Escape" && !field.value) onDone();
  }

  get(model.id, "translate", { word: pair[from], direction, k: CHOICES, given: false }).then((found) => {
    const others = found.candidates.filter((one) => one.mark !== "wrong").map((one) => one.word).filter((text) => text !== pair[to]);
    choices.replaceChildren(...others.map((text) => word(text, model[to].language, "button", {
      type: "button", class: "word chip", click: () => save(text, "right") })));
  }).catch(() => {}); // a word without a vector has no candidates
  return { form, focus: () => field.input.focus() };
}
