import { GlobalWorkerOptions, getDocument, version } from "pdfjs-dist/legacy/build/pdf.mjs";
import worker from "pdfjs-dist/legacy/build/pdf.worker.min.mjs?url";

GlobalWorkerOptions.workerSrc = worker;

/** Where the build has what pdf.js loads for some PDFs only (see scripts/pdf-data.ts). */
const DATA = import.meta.env.DEV
  ? "/node_modules/pdfjs-dist/"
  : new URL(/* @vite-ignore */ `./pdf-${version}/`, import.meta.url).href;

/** The pages of a PDF, drawn one at a time; only the bytes that a page needs are loaded. Ended by `close`. */
export class PdfPages {
  private readonly loading;

  constructor(url: string) {
    // The page's content security policy allows neither evaluated code nor WebAssembly.
    this.loading = getDocument({
      url,
      disableAutoFetch: true,
      disableStream: true,
      useWasm: false,
      useSystemFonts: false,
      cMapUrl: `${DATA}cmaps/`,
      standardFontDataUrl: `${DATA}standard_fonts/`,
      wasmUrl: `${DATA}wasm/`,
    });
  }

  /** Draws a page, counted from 1, as sharp as the screen shows it at this width in CSS pixels. */
  async draw(canvas: HTMLCanvasElement, number: number, width: number, signal: AbortSignal): Promise<void> {
    const page = await (await this.loading.promise).getPage(number);
    signal.throwIfAborted();
    const scale = (width * devicePixelRatio) / page.getViewport({ scale: 1 }).width;
    const viewport = page.getViewport({ scale });
    canvas.width = Math.round(viewport.width);
    canvas.height = Math.round(viewport.height);
    const drawing = page.render({ canvas, viewport });
    signal.addEventListener("abort", () => {
      drawing.cancel();
    });
    await drawing.promise;
  }

  close(): void {
    void this.loading.destroy();
  }
}
