// The view that asks: one word after another, chosen so that each answer helps the other words most.

import { get, post } from "./api.js";
import { combobox } from "./combobox.js";
import { el, number, say, toast, word } from "./dom.js";
import { answering, asked, inLanguage, languageName } from "./languages.js";
import { meter } from "./meter.js";
import { trainingCard } from "./training.js";

const AHEAD = 5; // questions fetched at a time
const NO_VECTOR = "no vector, so it is kept for the dictionary, but training learns nothing from it.";

export function showAsk(place, model, { link }) {
  let direction = "forward", queue = [], made = [], seen = new Set(), busy = false, request;
  const training = trainingCard(model);
  const way = el("select", { "aria-label": "Direction", name: "direction", change: () => { location.hash = link("ask", { d: way.value === "backward" && way.value }); } },
    ...["forward", "backward"].map((one) => el("option", { value: one },
      `${languageName(model, asked(one))} → ${languageName(model, answering(one))}`)));
  const card = el("section", { class: "card asking", "aria-label": "Question", keydown: onKey });
  place.append(
    el("h1", {}, "Ask me"),
    el("p", { class: "lead" }, "One word after another, chosen so that each answer helps the other words most. ",
      "Every answer counts at once and is kept; stop whenever you like."),
    el("p", { class: "controls" }, way), card, training.card);

  function enter(parameters) {
    direction = parameters.get("d") === "backward" ? "backward" : "forward";
    way.value = direction;
    queue = [];
    made = [];
    seen = new Set();
    load();
  }

  /** Fetch the next questions; those that are waiting to be asked stay where they are. */
  async function load() {
    request?.abort();
    request = new AbortController();
    if (!queue.length) card.replaceChildren(el("p", { class: "quiet" }, "Choosing the next words …"));
    try {
      const found = await get(model.id, "questions", { direction, count: queue.length + AHEAD }, request.signal);
      const waiting = queue.length;
      queue.push(...found.questions.filter((one) => !seen.has(one.word)));
      found.questions.forEach((one) => seen.add(one.word));
      if (!waiting) draw();
    } catch (error) {
      if (error.name !== "AbortError" && !queue.length) fail(`The next words could not be chosen: ${error.message}`);
    }
  }

  function fail(text) {
    card.replaceChildren(el("p", {}, text), el("button", { type: "button", click: load }, "Try again"));
  }

  function draw() {
    if (!queue.length) {
      card.replaceChildren(el("p", { tabindex: "-1", id: "asked" }, "Nothing is left to ask about in this direction."), ...last());
      card.querySelector("#asked").focus();
      return;
    }
    const question = queue[0], to = answering(direction);
    const title = word(question.word, model[asked(direction)].language, "h2", { id: "asked", tabindex: "-1" });
    const choices = el("ol", { class: "answers-list", "aria-labelledby": "asked" }, ...question.candidates.map((one, i) =>
      el("li", {}, el("button", { type: "button", class: "choose", click: () => answer(String(i + 1)) },
        el("kbd", {}, String(i + 1)), word(one.word, model[to].language), one.confidence === null ? null : meter(one.confidence)))));
    const field = combobox({
      label: `Another word ${inLanguage(model, to)}`, side: to, model, language: model[to].language,
      placeholder: `Another word ${inLanguage(model, to)}`, onChoose: (text) => answer(text),
    });
    card.replaceChildren(
      el("div", { class: "headword" }, title, el("p", { class: "quiet" }, `word ${number(question.rank)} by frequency: ${question.why}`)),
      el("p", {}, `What is it ${inLanguage(model, to)}?`), choices,
      el("form", { class: "adder", "aria-label": "Another word", submit: (event) => {
        event.preventDefault();
        if (field.value) answer(field.value);
      } }, field.box, el("button", { type: "submit", class: "main" }, "Save")),
      el("p", { class: "actions" }, el("button", { type: "button", click: () => answer("0") }, "None of these"), " ",
        el("button", { type: "button", click: () => answer(null) }, "Skip")),
      ...last(),
      el("p", { class: "quiet hint" }, "Keys: ", el("kbd", {}, "1"), " to ", el("kbd", {}, String(question.candidates.length)), " choose, ",
        el("kbd", {}, "0"), " none of these, ", el("kbd", {}, "S"), " skip, ", el("kbd", {}, "U"), " undo. Several words: with commas between them."));
    title.focus({ preventScroll: true }); // so that the keys are for this question
  }

  /** What a question without an answer came to; '' if it has one. */
  function withoutAnswer(done) {
    return done.answers.length ? "" : done.before.length ? "none of these" : "skipped";
  }

  /** The last answer, and how to take it back. */
  function last() {
    if (!made.length) return [];
    const { done } = made.at(-1);
    const told = done.answers.length ? [" – ", ...done.answers.flatMap((text, i) => [i ? ", " : "", word(text, model[answering(direction)].language)])]
      : [`: ${withoutAnswer(done)}`];
    const skipped = made.filter((one) => withoutAnswer(one.done) === "skipped").length;
    return [el("p", { class: "line", id: "last" },
      el("span", {}, `${number(made.length - skipped)} answered${skipped ? `, ${number(skipped)} skipped` : ""}. Last: `, word(done.word, model[asked(direction)].language), ...told),
      el("button", { type: "button", click: undo }, "Undo")), ...unlearnt(done)];
  }

  /** Which answers count, but teach nothing. */
  function unlearnt(done) {
    return done.without_vector.map((text) =>
      el("p", { class: "quiet unlearnt" }, word(text, model[answering(direction)].language), `: ${NO_VECTOR}`));
  }

  async function answer(text) {
    if (busy || !queue.length) return;
    busy = true;
    const question = queue[0];
    try {
      const done = await post(model.id, "answers", { word: question.word, direction, answer: text, candidates: question.candidates.map((one) => one.word) });
      made.push({ question, done });
      queue.shift();
      const untaught = done.without_vector.map((text) => ` ${text}: ${NO_VECTOR}`).join("");
      say(`${done.word}: ${done.answers.join(", ") || withoutAnswer(done)}.${untaught} ${queue.length ? `Next: ${queue[0].word}` : ""}`);
      window.dispatchEvent(new Event("lnmap-marked"));
      if (queue.length) draw();
      if (queue.length < 2) load();
    } catch (error) {
      toast(`The answer was not saved: ${error.message}`);
    }
    busy = false;
  }

  async function undo() {
    if (busy || !made.length) return;
    busy = true;
    const { question, done } = made.at(-1);
    try {
      await post(model.id, "answers/undo", { word: done.word, direction: done.direction, before: done.before, skipped: done.skipped });
      made.pop();
      queue.unshift(question);
      window.dispatchEvent(new Event("lnmap-marked"));
      draw();
    } catch (error) {
      toast(`The answer was not taken back: ${error.message}`);
    }
    busy = false;
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    const key = event.key.toLowerCase();
    if (/^[0-9]$/.test(key) && Number(key) <= (queue[0]?.candidates.length ?? -1)) answer(key);
    else if (key === "s") answer(null);
    else if (key === "u") undo();
    else return;
    event.preventDefault();
  }

  return { enter, update: training.update, leave: () => request?.abort() };
}
