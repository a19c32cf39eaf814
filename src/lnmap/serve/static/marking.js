// Marks: the two buttons beside a pair, kept up to date with marks that are made elsewhere.

import { get, post } from "./api.js";
import { el, signed, toast } from "./dom.js";

const BUTTONS = [["right", "✓"], ["wrong", "✗"]];

/** Buttons to judge one pair; pressing a pressed one takes the mark back. */
export function markButtons(model, pair, mark, onMarked) {
  let since = 0; // the version of the journal that holds what was pressed here last
  const group = el("span", { class: "marks", role: "group", "aria-label": `Mark ${pair.source} – ${pair.target}` });
  for (const [name, sign] of BUTTONS) {
    group.append(el("button", {
      type: "button", class: `mark ${name}`, title: name, "data-mark": name, click: () => press(name),
    }, signed(sign, name)));
  }

  function draw() {
    for (const button of group.querySelectorAll("[data-mark]")) {
      const pressed = button.dataset.mark === mark || (mark === "added" && button.dataset.mark === "right");
      button.setAttribute("aria-pressed", String(pressed));
    }
    group.dataset.mark = mark || "";
  }

  async function press(name) {
    const pressed = name === mark || (name === "right" && mark === "added");
    const before = mark;
    mark = pressed ? null : name;
    since = Infinity;
    draw();
    try {
      const made = await post(model.id, "marks", { ...pair, mark: pressed ? "none" : name });
      since = made.version;
      onMarked?.(mark);
    } catch (error) {
      since = 0;
      mark = before;
      draw();
      toast(`The mark was not saved: ${error.message}`);
    }
  }

  /** Show the mark of the journal, unless something newer was pressed here. */
  function set(value, version) {
    if (version < since) return;
    mark = value;
    draw();
  }

  draw();
  return { group, press, pair, set, get: () => mark };
}

/** Bring buttons up to date with what was marked between two states, here or elsewhere. */
export async function refreshMarks(model, buttons, state, before) {
  const since = before.marks_version <= state.marks_version ? before.marks_version : 0;
  const { marks, version } = await get(model.id, "marks", { since });
  const changed = new Map(marks.map((mark) => [`${mark.source}\t${mark.target}`, mark.mark]));
  for (const one of buttons) {
    const mark = changed.get(`${one.pair.source}\t${one.pair.target}`);
    if (mark) one.set(mark === "none" ? null : mark, version);
    else if (!since) one.set(null, version);
  }
}
