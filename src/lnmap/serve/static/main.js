// The frame of the page: which model, which view, and updates while it is open.

import { get, listModels } from "./api.js";
import { banner, el, toast } from "./dom.js";
import { languageName } from "./languages.js";
import { showAsk } from "./ask.js";
import { showCard } from "./card.js";
import { showHelp } from "./help.js";
import { showLexicon } from "./lexicon.js";
import { showTranslate } from "./translate.js";

const VIEWS = { translate: ["Translate", showTranslate], ask: ["Ask me", showAsk], lexicon: ["Lexicon", showLexicon], model: ["Model", showCard],
  help: ["Help", showHelp] };
const POLL_MS = 2000;

const page = { models: [], model: null, view: null, shown: null, state: null };

/** Read '#/en-fr/lexicon?sort=surest' into its parts; missing parts get their defaults. */
function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [id, view] = path.split("/").map((part) => decodeURIComponent(part));
  const model = page.models.find((one) => one.id === id) || page.models[0];
  return { model, view: VIEWS[view] ? view : "translate", parameters: new URLSearchParams(query) };
}

/** Address of a view, which the back button returns to. */
export function link(model, view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
  return `#/${encodeURIComponent(model.id)}/${view}${query.size ? `?${query}` : ""}`;
}

function show() {
  const { model, view, parameters } = route();
  const fresh = page.model !== model || page.view !== view;
  if (page.model !== model) page.state = null;
  Object.assign(page, { model, view });
  drawTabs();
  document.title = `${VIEWS[view][0]} · ${model.name} · lnmap`;
  const place = document.getElementById("view");
  if (fresh) {
    page.shown?.leave?.();
    place.replaceChildren();
    page.shown = VIEWS[view][1](place, model, { link: (name, values) => link(model, name, values) });
    window.scrollTo(0, 0);
  }
  page.shown.enter?.(parameters);
  if (fresh && page.state) page.shown.update?.(page.state);
}

function drawTabs() {
  const tabs = Object.entries(VIEWS).map(([name, [title]]) =>
    el("li", {}, el("a", { href: link(page.model, name), "aria-current": name === page.view ? "page" : null }, title)));
  document.getElementById("tabs").replaceChildren(...tabs);
  document.getElementById("models").value = page.model.id;
}

function drawPicker() {
  const select = document.getElementById("models");
  const title = (model) => `${model.name} (${languageName(model, "source")} – ${languageName(model, "target")})`;
  select.replaceChildren(...page.models.map((model) => el("option", { value: model.id }, title(model))));
  select.addEventListener("change", () => {
    location.hash = link(page.models.find((model) => model.id === select.value), page.view);
  });
  document.getElementById("picker").hidden = page.models.length < 2;
}

/** Ask what has changed: marks of other people, work in the background, a newer model in the folder. */
async function poll() {
  const { model } = page;
  try {
    const state = await get(model.id, "state");
    banner("");
    if (model !== page.model) return;
    const before = page.state;
    page.state = state;
    if (before && before.revision !== state.revision) return await reload();
    page.shown?.update?.(state, before);
  } catch {
    banner("The server is not responding. Retrying …");
  }
}

async function reload() {
  page.models = await listModels();
  page.model = page.shown = null;
  show();
  toast("There is a newer model, which this page now shows.");
  await poll();
}

async function watch() {
  if (!document.hidden) await poll();
  setTimeout(watch, POLL_MS);
}

async function start() {
  try {
    page.models = await listModels();
  } catch (error) {
    banner(`The models could not be listed: ${error.message}`);
    return;
  }
  drawPicker();
  window.addEventListener("hashchange", show);
  document.addEventListener("visibilitychange", () => document.hidden || poll());
  window.addEventListener("lnmap-marked", poll);
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address names the view, not a place on the page
    document.getElementById("view").focus();
  });
  show();
  watch();
}

start();
