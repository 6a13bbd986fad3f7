import { defer, from, map, concat, of } from "rxjs";
import type { Observable } from "rxjs";
import type { Partially } from "./client.js";
import type { UploadDocumentRequest, UploadHeader } from "./stubs/proviso/v1/matters.js";

const PIECE_BYTES = 64 * 1024;

/** What `uploadDocument` takes: the header, then the document in pieces of 64 KiB, then the end. */
export function uploadRequests(
  header: Partially<UploadHeader>,
  document: Uint8Array,
): Observable<Partially<UploadDocumentRequest>> {
  const pieces = defer(() => from(piecesOf(document))).pipe(map((data) => ({ data })));
  return concat(of({ header }), pieces, of({ end: {} }));
}

function* piecesOf(document: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < document.length; start += PIECE_BYTES) {
    yield document.subarray(start, start + PIECE_BYTES);
  }
}
