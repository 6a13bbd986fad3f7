import { ApiError, pathOf } from "../core/api.js";
import type { Document } from "../core/contract.js";

/** What an upload was answered: the document, and whether the matter had the same bytes already. */
export interface Stored {
  document: Document;
  already_existed: boolean;
}

/** An upload under way. `stored` rejects with ApiError, also after `cancel`. */
export interface Upload {
  stored: Promise<Stored>;
  cancel: () => void;
}

/** Silence after which an upload counts as cut, in milliseconds. */
const STALLED_MS = 60_000;

/** Sends a file to a matter and tells the share of its bytes that is sent, 0 to 1. */
export function upload(matterId: string, file: File, onShare: (share: number) => void): Upload {
  const request = new XMLHttpRequest();
  const stored = new Promise<Stored>((resolve, reject) => {
    let stall: ReturnType<typeof setTimeout> | undefined;
    const moved = (): void => {
      clearTimeout(stall);
      stall = setTimeout(() => {
        request.abort();
      }, STALLED_MS);
    };
    request.upload.onprogress = ({ loaded, total }) => {
      moved();
      onShare(total > 0 ? loaded / total : 0);
    };
    request.onloadend = () => {
      clearTimeout(stall);
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText) as Stored);
      else reject(errorOf(request));
    };
    moved();
  });
  const form = new FormData();
  form.append("file", file);
  request.open("POST", pathOf("matters", matterId, "documents"));
  request.setRequestHeader("Accept", "application/json");
  request.send(form);
  return {
    stored,
    cancel: () => {
      request.abort();
    },
  };
}

/** A response that is no success, or none at all. */
function errorOf({ status, responseText }: XMLHttpRequest): ApiError {
  if (status === 0) return ApiError.from(undefined);
  return new ApiError({ title: `The gateway answered ${status}.`, ...parsed(responseText), status });
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
