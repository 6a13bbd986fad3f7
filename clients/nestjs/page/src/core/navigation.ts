import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { formatRoute, parseRoute } from "./route.js";
import type { Route, View } from "./route.js";

/** A matter that the person has chosen; the name is empty until the list of matters is there. */
export interface SelectedMatter {
  matterId: string;
  name: string;
}

/** A document of the selected matter that questions are about. */
export interface SelectedDocument {
  documentId: string;
  name: string;
}

/** A place in a document's text: `start` and `end` in Unicode code points, end exclusive. */
export interface DocumentPlace {
  matterId: string;
  documentId: string;
  filename?: string;
  start?: number;
  end?: number;
  /** The words that should stand there, shown where the place cannot be found. */
  quote?: string;
  /** Places to step through, in the order of the text; the one at `start` and `end` is shown first. */
  spans?: readonly { start: number; end: number }[];
}

/** A source of an answer that is no document. */
export interface CitedSource {
  name: string;
  /** What it is, in words; empty where that is not known. */
  kind: string;
  /** The words that are cited; empty for an image. */
  quote: string;
  /** The tool call that returned it. */
  call?: { turnId: string; callId: string };
}

/** What the right column shows. */
export type Side =
  | { kind: "document"; place: DocumentPlace }
  | { kind: "source"; source: CitedSource }
  /** What the answer of a turn was made of. */
  | { kind: "context"; turnId: string }
  /** The items of the session. */
  | { kind: "session" };

/** The part of `window` that navigation needs. */
export interface Place {
  location: { hash: string };
  history: { replaceState: (data: unknown, unused: string, url: string) => void };
  addEventListener: (type: "hashchange", listener: () => void) => void;
  removeEventListener: (type: "hashchange", listener: () => void) => void;
}

/**
 * Where the person is: view, session, matter and document stand in the URL, so that a reload or a link leads back to them;
 * the right column does not.
 */
export class Navigation {
  private readonly currentRoute;
  /** Names by id: one that belonged to another matter or document is no name for this one. */
  private readonly matterName = signal({ id: "", name: "" });
  private readonly documentName = signal({ id: "", name: "" });
  private readonly currentSide = signal<Side | undefined>(undefined);
  private opener: HTMLElement | undefined;

  readonly view: ReadonlySignal<View>;
  readonly sessionId: ReadonlySignal<string | undefined>;
  readonly selectedMatter: ReadonlySignal<SelectedMatter | undefined>;
  readonly selectedDocument: ReadonlySignal<SelectedDocument | undefined>;
  readonly side: ReadonlySignal<Side | undefined> = this.currentSide;
  /** The document in the right column. */
  readonly openedDocument: ReadonlySignal<DocumentPlace | undefined>;

  constructor(private readonly place: Place) {
    this.currentRoute = signal(parseRoute(place.location.hash));
    this.view = computed(() => this.currentRoute.value.view);
    this.sessionId = computed(() => this.currentRoute.value.sessionId);
    this.selectedMatter = computed(() => {
      const matterId = this.currentRoute.value.matterId;
      return matterId === undefined ? undefined : { matterId, name: nameOf(this.matterName.value, matterId) };
    });
    this.selectedDocument = computed(() => {
      const documentId = this.currentRoute.value.documentId;
      return documentId === undefined ? undefined : { documentId, name: nameOf(this.documentName.value, documentId) };
    });
    this.openedDocument = computed(() => {
      const side = this.currentSide.value;
      return side?.kind === "document" ? side.place : undefined;
    });
  }

  /** Follows the URL; returns what ends that. */
  listen(): () => void {
    const follow = (): void => {
      this.arrive(parseRoute(this.place.location.hash));
    };
    this.place.addEventListener("hashchange", follow);
    return () => {
      this.place.removeEventListener("hashchange", follow);
    };
  }

  showView(view: View): void {
    this.go({ view });
  }

  /** Opens a session; a new conversation when absent. Closes what belonged to the last one. */
  openSession(sessionId: string | undefined): void {
    if (this.currentSide.peek()?.kind !== "document") this.currentSide.value = undefined;
    this.go({ view: "chat", sessionId });
  }

  /** Gives the new conversation its id, without a step in the browser's history. */
  nameSession(sessionId: string): void {
    this.go({ sessionId }, "replace");
  }

  /** Selects a matter, without a document; none when absent. Called again with the same id it sets the name. */
  selectMatter(matter: SelectedMatter | undefined): void {
    const same = matter?.matterId === this.currentRoute.peek().matterId;
    this.matterName.value = { id: matter?.matterId ?? "", name: matter?.name ?? "" };
    if (!same) this.go({ matterId: matter?.matterId, documentId: undefined });
  }

  /** Selects a document of the matter for the questions to be about; the whole matter when absent. */
  selectDocument(document: SelectedDocument | undefined): void {
    const same = document?.documentId === this.currentRoute.peek().documentId;
    this.documentName.value = { id: document?.documentId ?? "", name: document?.name ?? "" };
    if (!same) this.go({ documentId: document?.documentId });
  }

  /** Opens the document's text in the right column, at the place where one is given. */
  openDocument(place: DocumentPlace): void {
    this.openSide({ kind: "document", place });
  }

  openSide(side: Side): void {
    const from = focused();
    if (!from?.closest(".side")) this.opener = from;
    this.currentSide.value = side;
  }

  /** Closes the right column; the focus goes back to where it was opened from. */
  closeSide(): void {
    this.currentSide.value = undefined;
    this.opener?.focus();
    this.opener = undefined;
  }

  private go(change: { [K in keyof Route]?: Route[K] | undefined }, how: "push" | "replace" = "push"): void {
    const route = { ...this.currentRoute.peek(), ...change } as Route;
    const hash = formatRoute(route);
    if (how === "replace") this.place.history.replaceState(undefined, "", hash);
    else this.place.location.hash = hash;
    this.arrive(route);
  }

  private arrive(route: Route): void {
    if (formatRoute(route) === formatRoute(this.currentRoute.peek())) return;
    this.currentRoute.value = route;
  }
}

function nameOf(known: { id: string; name: string }, id: string): string {
  return known.id === id ? known.name : "";
}

function focused(): HTMLElement | undefined {
  return document.activeElement instanceof HTMLElement ? document.activeElement : undefined;
}

export const NavigationContext = createContext<Navigation | undefined>(undefined);

/** The navigation of the page that the component is in. */
export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext);
  if (!navigation) throw new Error("The component is not in a page");
  return navigation;
}
