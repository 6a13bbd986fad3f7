import { once } from "node:events";
import type { Readable } from "node:stream";
import { Inject, Injectable } from "@nestjs/common";
import type { CallOptions, ClientWritableStream, Metadata, ServiceError } from "@grpc/grpc-js";
import { matterMetadata } from "@proviso/client";
import type { Partially } from "@proviso/client";
import type { UploadDocumentRequest, UploadDocumentResponse } from "@proviso/client/stubs/matters";
import type { Request } from "express";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";
import { discardRest, readUploadForm } from "./upload-form.js";

type Pieces = ClientWritableStream<Partially<UploadDocumentRequest>>;

/** UploadDocument as grpc-js has it. */
interface RawMatters {
  uploadDocument(
    metadata: Metadata,
    options: CallOptions,
    answer: (error: ServiceError | null, stored: UploadDocumentResponse) => void,
  ): Pieces;
}

/** Passes uploads on to the service as they arrive. */
@Injectable()
export class Uploads {
  constructor(
    @Inject(Contract) private readonly contract: Contract,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Sends the file of a form to a matter, at the pace of the service, which keeps it only when the whole form has come.
   * Rejects with Refusal for what is no upload, and as grpc-js does.
   */
  async pass(request: Request, caller: Caller, matterId: string): Promise<UploadDocumentResponse> {
    const { maxUploadBytes } = this.settings;
    const over = new AbortController();
    const { pieces, stored } = this.begin(caller, matterId);
    const read = readUploadForm(request, maxUploadBytes, (file, filename) => {
      pieces.write({ header: { matterId, filename } });
      return send(file, pieces, over.signal);
    });
    read.catch(() => undefined);
    try {
      await Promise.race([read, stored]);
      pieces.write({ end: {} });
      pieces.end();
      return await stored;
    } catch (error) {
      pieces.cancel();
      discardRest(request, maxUploadBytes);
      throw error;
    } finally {
      over.abort();
    }
  }

  private begin(caller: Caller, matterId: string): { pieces: Pieces; stored: Promise<UploadDocumentResponse> } {
    const client = this.contract.rawMatters as unknown as RawMatters;
    const options = { deadline: Date.now() + this.settings.uploadTimeoutMs };
    let answered: (error: ServiceError | null, stored: UploadDocumentResponse) => void;
    const stored = new Promise<UploadDocumentResponse>((resolve, reject) => {
      answered = (error, answer) => {
        if (error) reject(error);
        else resolve(answer);
      };
    });
    const pieces = client.uploadDocument(matterMetadata({ matterId }, caller.metadata), options, (error, answer) => {
      answered(error, answer);
    });
    // Where the form is at fault, nobody waits for the service any more.
    stored.catch(() => undefined);
    return { pieces, stored };
  }
}

async function send(file: Readable, pieces: Pieces, over: AbortSignal): Promise<void> {
  for await (const data of file) {
    if (!pieces.write({ data: data as Uint8Array })) await once(pieces, "drain", { signal: over });
  }
}
