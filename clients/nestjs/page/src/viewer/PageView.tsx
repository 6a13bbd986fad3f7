import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { api, pathOf } from "../core/api.js";
import { Button, ErrorNote, Spinner } from "../core/components/index.js";
import { useLoaded } from "../core/use-loaded.js";
import { stripsOver } from "./page-marks.js";
import type { PageLayout } from "./page-marks.js";
import { reveal } from "./scrolling.js";
import type { Span } from "./text-window.js";

interface PageViewProps {
  matterId: string;
  documentId: string;
  title: string;
  /** What is marked; nothing where it is empty. The page shown first is the one where it begins. */
  span: Span;
}

/** The page of a PDF as it was uploaded, with the words of a place marked, and a way to the pages around it. */
export function PageView({ matterId, documentId, title, span: { start, end } }: PageViewProps) {
  const path = ["matters", matterId, "documents", documentId];
  const turnedTo = useSignal<number | undefined>(undefined);
  const first = useLoaded(
    async (signal) => {
      turnedTo.value = undefined;
      const query = { start, max_chars: 1 };
      return Math.max(1, (await api.get<{ page: number }>(pathOf(...path, "text"), { query, signal })).page);
    },
    [matterId, documentId, start],
  );
  const number = turnedTo.value ?? first.found;
  const layout = useLoaded(
    async (signal) => {
      if (number === undefined) return undefined;
      return api.get<PageLayout>(pathOf(...path, "pages", String(number)), { query: { start, end }, signal });
    },
    [matterId, documentId, number, start, end],
  );
  const failed = first.failure === undefined ? layout : first;
  const found = layout.found?.page === number ? layout.found : undefined;
  return (
    <>
      {failed.failure && (
        <div class="viewer-failure">
          <ErrorNote error={failed.failure} onRetry={failed.retry} />
        </div>
      )}
      <DrawnPage url={pathOf(...path, "content")} layout={found} title={title} marked={end > start} />
      {found && (
        <footer class="viewer-foot">
          <span class="viewer-position" role="status">
            Page {found.page} of {found.page_count}
          </span>
          <Turn
            to={found.page - 1}
            last={found.page_count}
            words="Previous page"
            onTurn={(to) => (turnedTo.value = to)}
          />
          <Turn to={found.page + 1} last={found.page_count} words="Next page" onTurn={(to) => (turnedTo.value = to)} />
        </footer>
      )}
    </>
  );
}

interface TurnProps {
  to: number;
  last: number;
  words: string;
  onTurn: (page: number) => void;
}

function Turn({ to, last, words, onTurn }: TurnProps) {
  return (
    <Button
      small
      disabled={to < 1 || to > last}
      onClick={() => {
        onTurn(to);
      }}
    >
      {words}
    </Button>
  );
}

interface DrawnPageProps {
  url: string;
  layout: PageLayout | undefined;
  title: string;
  marked: boolean;
}

function DrawnPage({ url, layout, title, marked }: DrawnPageProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const pages = usePdf(url);
  const drawn = useLoaded(
    async (signal) => {
      if (layout === undefined || canvas.current === null) return undefined;
      await (await pages).draw(canvas.current, layout.page, canvas.current.clientWidth, signal);
      return layout.page;
    },
    [pages, layout?.page],
  );
  useLayoutEffect(() => {
    const mark = scroller.current?.querySelector(".page-mark");
    if (mark && scroller.current) reveal(scroller.current, mark);
  }, [layout, drawn.found]);
  const label = layout === undefined ? title : `Page ${layout.page} of ${title}`;
  const shape = layout?.has_layout === true ? { aspectRatio: `${layout.width} / ${layout.height}` } : {};
  return (
    <div ref={scroller} class="viewer-scroller" tabIndex={0} role="region" aria-label={label} aria-busy={!drawn.found}>
      {!drawn.found && !drawn.failure && <Spinner label="Loading the page" showLabel />}
      {drawn.failure && <p class="viewer-problem">The page cannot be drawn. Download the original to see it.</p>}
      {layout?.has_layout === false && marked && (
        <p>The passage cannot be marked on this page. Delete the document and upload it again to have it marked.</p>
      )}
      <div class="drawn-page" style={shape}>
        <canvas ref={canvas} role="img" aria-label={label} />
        {layout && marked && stripsOver(layout).map((strip) => <mark class="page-mark" style={inPercent(strip)} />)}
      </div>
    </div>
  );
}

/** What draws a PDF's pages. Its code is loaded when a page is first shown. */
function usePdf(url: string) {
  const pages = useMemo(() => import("./pdf-pages.js").then(({ PdfPages }) => new PdfPages(url)), [url]);
  useEffect(
    () => () => {
      void pages.then((opened) => {
        opened.close();
      });
    },
    [pages],
  );
  return pages;
}

function inPercent(strip: object): Record<string, string> {
  return Object.fromEntries(Object.entries(strip).map(([side, hundredths]) => [side, `${hundredths as number}%`]));
}
