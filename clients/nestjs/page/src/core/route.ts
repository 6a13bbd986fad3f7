/** The page's views. */
export type View = "chat" | "iql";

/** What the URL's hash says: `#/chat/<session>?matter=<id>&document=<id>`, `#/iql?matter=<id>`. */
export interface Route {
  view: View;
  sessionId?: string;
  matterId?: string;
  documentId?: string;
}

/** The route of a hash; anything else is the chat. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view, session] = path.split("/");
  const parameters = new URLSearchParams(query);
  const route: Route = { view: view === "iql" ? "iql" : "chat" };
  const sessionId = decoded(session ?? parameters.get("session") ?? "");
  const matterId = parameters.get("matter");
  const documentId = parameters.get("document");
  if (sessionId) route.sessionId = sessionId;
  if (matterId) route.matterId = matterId;
  if (matterId && documentId) route.documentId = documentId;
  return route;
}

/** The hash of a route. */
export function formatRoute({ view, sessionId, matterId, documentId }: Route): string {
  const query = new URLSearchParams();
  if (view === "iql" && sessionId) query.set("session", sessionId);
  if (matterId) query.set("matter", matterId);
  if (matterId && documentId) query.set("document", documentId);
  const session = view === "chat" && sessionId ? `/${encodeURIComponent(sessionId)}` : "";
  const text = query.toString();
  return `#/${view}${session}${text ? `?${text}` : ""}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
