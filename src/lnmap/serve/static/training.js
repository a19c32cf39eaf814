// Training again with the marks: the button, how far it is, and what came of it.

import { post } from "./api.js";
import { duration, el, number, percent, say, toast } from "./dom.js";

/** Make the card that trains a model again; `update` shows what the server says of it. */
export function trainingCard(model) {
  let shown = "", counted = -1;
  const start = el("button", { type: "button", class: "main", id: "train", click: begin }, "Train again");
  const stop = el("button", { type: "button", hidden: true, click: cancel }, "Cancel");
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress of the training", hidden: true });
  const told = el("p", { id: "trained" });
  const code = el("code", { id: "retrain" }, model.retrain);
  const card = el("section", { class: "card training", "aria-label": "Train again" }, el("h2", {}, "Train again"),
    el("p", { class: "quiet" }, "Marks count at once for the words that you marked. Training lets the other words profit from them, too. ",
      "It runs in the background, and you can go on marking."),
    told, bar, el("p", { class: "actions" }, start, " ", stop),
    el("details", {}, el("summary", {}, "The same on the command line"), el("p", {}, code, " "),
      el("button", { type: "button", click: () => copy(model.retrain) }, "Copy the command")));
  draw("waiting", "Asking the server …");

  async function begin() {
    if (start.getAttribute("aria-disabled") === "true") return;
    start.setAttribute("aria-disabled", "true"); // and not disabled, so that it keeps the focus
    await send("training", "The training was not started");
  }

  async function cancel() {
    if (await send("training/stop", "The training was not cancelled")) toast("Cancelled. The model stays as it was.");
  }

  async function send(resource, trouble) {
    try {
      show(await post(model.id, resource, {}));
      return true;
    } catch (error) {
      shown = "";
      toast(`${trouble}: ${error.message}`);
      return false;
    }
  }

  function draw(state, text) {
    const running = state === "running", focused = document.activeElement === stop;
    start.setAttribute("aria-disabled", String(running || !counted));
    for (const one of [bar, stop]) one.hidden = !running;
    if (focused && !running) start.focus();
    told.textContent = text;
  }

  function show(training) {
    const { state, share, left, message, result } = training;
    if (state === "running") {
      if (share) bar.value = share;
      else bar.removeAttribute("value");
    }
    draw(state, {
      running: `Training${message === "training" ? "" : ` (${message})`}${share ? `, ${percent(share)}` : ""}${left ? `, about ${duration(left)} left` : ""} …`,
      failed: `The training failed: ${message}. The model is still the old one.`,
    }[state] || (result ? outcome(result) : waiting()));
    if (shown && shown !== state) say(told.textContent);
    shown = state;
  }

  function waiting() {
    if (!counted) return "Nothing is marked yet, so there is nothing new to learn from.";
    return `${number(counted)} ${counted === 1 ? "mark is" : "marks are"} there to learn from.`;
  }

  function update(state) {
    counted = state.marks.right + state.marks.wrong + state.marks.added;
    show(state.training);
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied.");
    } catch {
      getSelection().selectAllChildren(code); // where a page may not copy
    }
  }

  return { card, update };
}

/** Say what a training has changed, in numbers of words and not only as a share: they are few. */
function outcome({ pairs, new: fresh, needed, held_out: held, before, after }) {
  const made = `Trained on ${number(pairs)} pairs. `;
  if (!held) return `${made}Too few for a score before and after: that takes ${number(needed)} newly marked words, and there were ${number(fresh)}.`;
  const share = (right) => `${number(right)} (${percent(right / held)})`;
  return `${made}Of ${number(held)} newly marked words that were kept out for a test, the first answer was right for ${share(before)} before and for ${share(after)} after.`;
}
