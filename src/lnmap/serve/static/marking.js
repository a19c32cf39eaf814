// Marks: the two buttons beside a pair, and how they stay true when somebody else marks too.

import { post } from "./api.js";
import { el, signed, toast } from "./dom.js";

const BUTTONS = [["right", "✓"], ["wrong", "✗"]];

/** Buttons to judge one pair; pressing a pressed one takes the mark back. */
export function markButtons(model, pair, mark, onMarked) {
  const group = el("span", { class: "marks", role: "group", "aria-label": `Mark ${pair.source} – ${pair.target}` });
  for (const [name, sign] of BUTTONS) {
    group.append(el("button", {
      type: "button", class: `mark ${name}`, title: name, "data-mark": name, click: () => press(name),
    }, signed(sign, name)));
  }

  function draw() {
    for (const button of group.children) {
      const pressed = button.dataset.mark === mark || (mark === "added" && button.dataset.mark === "right");
      button.setAttribute("aria-pressed", String(pressed));
    }
    group.dataset.mark = mark || "";
  }

  async function press(name) {
    const pressed = name === mark || (name === "right" && mark === "added");
    const before = mark;
    mark = pressed ? null : name;
    draw();
    try {
      await post(model.id, "marks", { ...pair, mark: pressed ? "none" : name });
      onMarked?.(mark);
    } catch (error) {
      mark = before;
      draw();
      toast(`The mark was not kept: ${error.message}`);
    }
  }

  draw();
  return { group, press, set: (value) => { mark = value; draw(); }, get: () => mark };
}
