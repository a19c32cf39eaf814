// The map: a word's neighbourhood before and after the alignment, to pan, zoom and hover.

import { el, percent, svg, word } from "./dom.js";
import { languageName } from "./languages.js";

const MARGIN = 44, FLATTEST = 0.78, LEAST_HEIGHT = 300, MOST_HEIGHT = 560;
const MOVE_MS = 700;
const PRIORITY = { word: 0, translation: 1, neighbour: 2, around: 3 };
const ROLES = { word: "the word", neighbour: "near it", translation: "possible translation", around: "near its translation" };
const LONGEST = 22;

const ease = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);
const short = (text) => ([...text].length > LONGEST ? `${[...text].slice(0, LONGEST).join("")}…` : text);

export function createMap({ places, model, onChoose }) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let width = 560, height = 440;
  let share = 0, goal = 1, zoom = 1, panX = 0, panY = 0, frame = 0, hovered = null;
  const links = svg("g", { class: "links" });
  const dots = svg("g");
  const plane = svg("svg", {
    class: "plane", tabindex: "0", role: "img", "aria-describedby": "map-help",
    "aria-label": describe(),
  }, links, dots);
  const tip = el("p", { class: "tip", hidden: true });
  const points = [...places.points].sort((a, b) => PRIORITY[b.role] - PRIORITY[a.role]).map(makePoint);
  const origin = points.find((point) => point.role === "word");
  const lines = points.filter((point) => point.role === "translation").map((point) => {
    const line = svg("line", {});
    links.append(line);
    return { line, point };
  });
  dots.append(...points.map((point) => point.node));

  function describe() {
    const near = places.points.filter((point) => point.role === "neighbour").slice(0, 3).map((point) => point.word);
    const other = places.points.filter((point) => point.role === "translation").slice(0, 3).map((point) => point.word);
    return `Map of the words around ${places.word}: near it ${near.join(", ")}; translations ${other.join(", ")}`;
  }

  function makePoint(point) {
    const size = { word: 7, translation: 6, neighbour: 4.5, around: 4 }[point.role];
    const shape = point.side === "source"
      ? svg("circle", { r: size })
      : svg("path", { d: `M0 ${-size * 1.25}L${size * 1.25} 0 0 ${size * 1.25} ${-size * 1.25} 0z` });
    const label = svg("text", { class: "word", lang: model[point.side].language || null });
    label.textContent = `\u2068${short(point.word)}\u2069`; // isolated, in its own direction
    const node = svg("g", { class: `point ${point.side} ${point.role}`, "data-word": point.word }, shape, label, svg("circle", { r: 13, class: "area" }));
    node.addEventListener("pointerenter", () => hover(made));
    node.addEventListener("pointerleave", () => hover(null));
    node.addEventListener("click", () => moved || onChoose(point));
    const made = { ...point, node, label, size, x: 0, y: 0 };
    return made;
  }

  function hover(point) {
    hovered?.node.classList.remove("hovered");
    hovered = point;
    tip.hidden = !point;
    if (point) {
      point.node.classList.add("hovered");
      tip.replaceChildren(word(point.word, model[point.side].language, "strong"),
        ` ${languageName(model, point.side)}, ${ROLES[point.role]}`);
    }
    placeLabels();
  }

  function locate(place) {
    const x = place[0] * (width / 2 - MARGIN), y = -place[1] * (height / 2 - MARGIN / 1.5);
    return [width / 2 + x * zoom + panX, height / 2 + y * zoom + panY];
  }

  function draw() {
    frame = 0;
    for (const point of points) {
      const mixed = [0, 1].map((i) => point.before[i] * (1 - share) + point.after[i] * share);
      [point.x, point.y] = locate(mixed);
      point.node.setAttribute("transform", `translate(${point.x.toFixed(1)} ${point.y.toFixed(1)})`);
    }
    for (const { line, point } of lines) {
      for (const [name, value] of [["x1", origin.x], ["y1", origin.y], ["x2", point.x], ["y2", point.y]]) {
        line.setAttribute(name, value.toFixed(1));
      }
    }
    placeLabels();
  }

  /** Show as many labels as fit without covering each other, the important ones first. */
  function placeLabels() {
    const own = new Map(points.map((point) => [point, [point.x - point.size, point.y - point.size, point.x + point.size, point.y + point.size]]));
    const taken = [...own.values()];
    const order = [...points].sort((a, b) => (b === hovered) - (a === hovered) || PRIORITY[a.role] - PRIORITY[b.role]);
    for (const point of order) {
      const wide = [...short(point.word)].reduce((sum, letter) => sum + (letter > "\u2e80" ? 15.5 : 7.6), 6);
      const { x, y, size } = point;
      const spots = [
        [[x - wide / 2, y - size - 22], "middle", 0], [[x - wide / 2, y + size + 3], "middle", 0],
        [[x + size + 2, y - 10], "start", size + 5], [[x - size - 2 - wide, y - 10], "end", -size - 5],
      ];
      const boxOf = ([[left, top]]) => [left, top, left + wide, top + 18];
      const fits = (box) => box[0] > 0 && box[2] < width && box[1] > 0 && box[3] < height &&
        taken.every((one) => one === own.get(point) || box[2] < one[0] || one[2] < box[0] || box[3] < one[1] || one[3] < box[1]);
      const spot = spots.find((one) => fits(boxOf(one)));
      const visible = spot || point === hovered || point.role === "word";
      point.label.classList.toggle("faded", !visible);
      if (!visible) continue;
      const [[, top], anchor, dx] = spot || spots[0];
      for (const [name, value] of [["x", dx], ["y", top - y + 14.5], ["text-anchor", anchor]]) point.label.setAttribute(name, value);
      taken.push(boxOf(spot || spots[0]));
    }
  }

  /** Take the size the page gives, so that words are as large on a phone as on a desk. */
  function resize() {
    const room = plane.parentNode.clientWidth;
    if (!room) return;
    [width, height] = [room, Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, room * FLATTEST))];
    plane.setAttribute("viewBox", `0 0 ${width} ${height}`);
    redraw();
  }

  function redraw() {
    frame ||= requestAnimationFrame(draw);
  }

  function go(to) {
    goal = to;
    for (const button of choice.children) button.setAttribute("aria-pressed", String(Number(button.value) === to));
    shown.textContent = `Two dimensions show ${percent(to ? places.shown_after : places.shown_before)} of the spread.`;
    plane.dataset.state = to ? "after" : "before";
    const from = share, begin = performance.now();
    if (calm || from === to) {
      share = to;
      return redraw();
    }
    const step = (now) => {
      if (goal !== to) return;
      const t = Math.min(1, (now - begin) / MOVE_MS);
      share = from + (to - from) * ease(t);
      draw();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  function zoomBy(factor, x = width / 2, y = height / 2) {
    const next = Math.min(12, Math.max(0.5, zoom * factor));
    panX = x - width / 2 - ((x - width / 2 - panX) * next) / zoom;
    panY = y - height / 2 - ((y - height / 2 - panY) * next) / zoom;
    zoom = next;
    plane.dataset.zoom = zoom.toFixed(2);
    redraw();
  }

  function reset() {
    [zoom, panX, panY] = [1, 0, 0];
    plane.dataset.zoom = "1.00";
    redraw();
  }

  // Pointers: one pans, two zoom.
  const fingers = new Map();
  let moved = false;
  const inside = (event) => {
    const frame = plane.getBoundingClientRect();
    return [((event.clientX - frame.x) / frame.width) * width, ((event.clientY - frame.y) / frame.height) * height];
  };
  plane.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, inside(event));
    moved = false;
  });
  plane.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = fingers.get(event.pointerId), now = inside(event);
    if (!moved && Math.hypot(now[0] - before[0], now[1] - before[1]) < 3) return;
    if (!moved) plane.setPointerCapture(event.pointerId);
    moved = true;
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const spread = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      zoomBy(spread(now) / spread(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else {
      panX += now[0] - before[0];
      panY += now[1] - before[1];
      redraw();
    }
    fingers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    plane.addEventListener(name, (event) => fingers.delete(event.pointerId));
  }
  plane.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...inside(event));
  }, { passive: false });
  const KEYS = {
    "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: reset,
    ArrowLeft: () => { panX += 30; redraw(); }, ArrowRight: () => { panX -= 30; redraw(); },
    ArrowUp: () => { panY += 30; redraw(); }, ArrowDown: () => { panY -= 30; redraw(); },
    b: () => go(0), a: () => go(1),
  };
  plane.addEventListener("keydown", (event) => {
    const action = !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  const choice = el("div", { class: "choice", role: "group", "aria-label": "State of the map" },
    el("button", { type: "button", value: 0, click: () => go(0) }, "Before"),
    el("button", { type: "button", value: 1, click: () => go(1) }, "After"));
  const shown = el("p", { class: "quiet" });
  const tool = (sign, name, action) => el("button", { type: "button", class: "tool", title: name, "aria-label": name, click: action }, sign);
  const legend = el("p", { class: "legend quiet" },
    el("span", { class: "key source" }, languageName(model, "source")),
    el("span", { class: "key target" }, languageName(model, "target")));
  const card = el("section", { class: "card map", "aria-label": "Map" },
    el("div", { class: "line" }, el("h3", {}, "Before and after the alignment"), choice),
    el("div", { class: "canvas" }, plane, tip),
    el("div", { class: "line" }, legend,
      el("div", { class: "tools" }, tool("+", "Zoom in", () => zoomBy(1.4)), tool("−", "Zoom out", () => zoomBy(1 / 1.4)),
        tool("⟲", "Show everything", reset))),
    shown,
    el("p", { class: "unseen", id: "map-help" }, "Arrow keys move, plus and minus zoom, 0 shows everything, B and A show before and after."));

  /** Begin once the card is on the page: a moment of before, then after. */
  function start() {
    new ResizeObserver(resize).observe(plane.parentNode);
    resize();
    plane.dataset.zoom = "1.00";
    go(0);
    setTimeout(() => goal === 0 && go(1), calm ? 0 : 600);
  }

  return { card, start };
}
