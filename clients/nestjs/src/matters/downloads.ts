import { Inject, Injectable } from "@nestjs/common";
import type { Document, DocumentContentHeader } from "@proviso/client/stubs/matters";
import type { Request, Response } from "express";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { Gate } from "../contract/gate.js";
import { Refusal } from "../http/refusal.js";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";

/** A part of a document's bytes; `end` is exclusive. */
interface Part {
  start: number;
  end: number;
}

/** Passes documents from the service to the browser as they were uploaded, at the pace of the browser. */
@Injectable()
export class Downloads {
  constructor(
    @Inject(Contract) private readonly contract: Contract,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Answers with the bytes, or with the range of them that is asked for. Rejects before anything is sent. */
  async pass(
    request: Request,
    response: Response,
    caller: Caller,
    matterId: string,
    documentId: string,
  ): Promise<void> {
    const { document } = await this.contract.ask(caller, this.contract.matters, "getDocument", {
      matterId,
      documentId,
    });
    if (document === undefined) throw new Refusal(404, "There is no such document.");
    response.set({ ETag: etagOf(document), "Cache-Control": "private, no-cache", "Accept-Ranges": "bytes" });
    if (isKnown(request, document)) {
      response.status(304).end();
      return;
    }
    const part = partOf(request, document);
    if (part === undefined) {
      response.set("Content-Range", `bytes */${document.sizeBytes}`);
      throw new Refusal(416, "The document has no such bytes.");
    }
    if (request.method === "HEAD") {
      begin(response, { ...document, rangeStart: part.start, rangeEnd: part.end });
      response.end();
    } else
      await this.stream(response, caller, { matterId, documentId, offset: part.start, length: part.end - part.start });
  }

  private async stream(
    response: Response,
    caller: Caller,
    asked: { matterId: string; documentId: string; offset: number; length: number },
  ): Promise<void> {
    // A browser that takes nothing for so long is cut off.
    response.setTimeout(this.settings.stallMs);
    const gate = new Gate();
    response.on("drain", () => {
      gate.reopen();
    });
    const content = this.contract.stream(caller, this.contract.matters, "getDocumentContent", asked, gate);
    await new Promise<void>((resolve, reject) => {
      const reading = content.subscribe({
        next: ({ header, data }) => {
          if (header) begin(response, header);
          if (data && !response.write(data)) gate.shut();
        },
        error: reject,
        complete: () => response.end(),
      });
      response.once("close", () => {
        reading.unsubscribe();
        resolve();
      });
    });
  }
}

function etagOf({ sha256 }: Document): string {
  return `"${sha256}"`;
}

/** Whether the browser has these bytes. */
function isKnown(request: Request, document: Document): boolean {
  const known = (request.get("If-None-Match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return known.includes("*") || known.includes(etagOf(document));
}

/** The part that is asked for; undefined where the document has none of it. Several ranges are answered with all of it. */
function partOf(request: Request, document: Document): Part | undefined {
  const whole = { start: 0, end: document.sizeBytes };
  const condition = request.get("If-Range");
  if (condition !== undefined && condition !== etagOf(document)) return whole;
  const ranges = request.range(document.sizeBytes);
  if (ranges === -1) return undefined;
  const only = Array.isArray(ranges) && ranges.type === "bytes" && ranges.length === 1 ? ranges[0] : undefined;
  return only === undefined ? whole : { start: only.start, end: only.end + 1 };
}

/** Sends the status and the headers. What people upload is not to be shown, or run, as a page of the gateway. */
function begin(response: Response, header: DocumentContentHeader): void {
  const { filename, mediaType, sizeBytes, rangeStart, rangeEnd } = header;
  response.attachment(filename);
  response.setHeader("Content-Type", mediaType);
  response.set({
    "Content-Length": String(rangeEnd - rangeStart),
    "Content-Security-Policy": "sandbox; default-src 'none'",
  });
  if (rangeEnd - rangeStart < sizeBytes) {
    response.status(206).set("Content-Range", `bytes ${rangeStart}-${rangeEnd - 1}/${sizeBytes}`);
  }
  response.flushHeaders();
}
