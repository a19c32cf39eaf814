// Requests to the server.

/** The server's report of why it could not answer. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body.message || `the server answered ${status}`);
    this.status = status;
    this.code = body.code || "";
    this.spellings = body.spellings || [];
  }
}

async function send(path, options) {
  const response = await fetch(path, { credentials: "omit", cache: "no-store", ...options });
  const body = await response.json().catch((error) => {
    if (response.ok || error.name === "AbortError") throw error; // half an answer is none
    return {}; // a refusal from something in between, not from the server
  });
  if (!response.ok) throw new ApiError(response.status, body);
  return body;
}

/** Address of one model's resource; invalid text is sent as closely as possible. */
export function address(model, resource = "", parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const path = `/api/models/${encodeURIComponent(model)}${resource && `/${resource}`}`;
  return query.size ? `${path}?${query}` : path;
}

export const listModels = () => send("/api/models");
export const listFormats = () => send("/api/formats");
export const get = (model, resource, parameters, signal) => send(address(model, resource, parameters), { signal });
export const post = (model, resource, body) =>
  send(address(model, resource), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
