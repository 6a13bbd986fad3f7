import type { Readable } from "node:stream";
import busboy from "busboy";
import type { Request } from "express";
import { Refusal } from "../http/refusal.js";

/** Room for the parts' headers and boundaries beside the file. */
const FORM_BYTES = 64 * 1024;

/**
 * Reads a form of one part, `file`, and gives its file to `take` as it comes. Resolves when the whole form has come and
 * all of the file is taken; rejects with Refusal for what is no such form, and with what `take` rejects with.
 */
export async function readUploadForm(
  request: Request,
  maxBytes: number,
  take: (file: Readable, filename: string) => Promise<void>,
): Promise<void> {
  if (Number(request.get("content-length") ?? 0) > maxBytes + FORM_BYTES) throw tooLarge(maxBytes);
  const parser = parserOf(request, maxBytes);
  let taken: Promise<void> | undefined;
  const whole = new Promise<void>((resolve, reject) => {
    parser.on("file", (name, file, { filename }) => {
      if (name !== "file" || !filename || taken !== undefined) {
        file.on("error", () => undefined).resume();
        reject(notOneFile());
        return;
      }
      file.once("limit", () => {
        reject(tooLarge(maxBytes));
      });
      taken = take(file, filename);
      taken.catch(reject);
    });
    parser.once("field", () => {
      reject(notOneFile());
    });
    // More than one may come: a form that is broken off is another fault of one that has a fault already.
    parser.on("error", () => {
      reject(new Refusal(400, "The form is not complete, or not a form."));
    });
    parser.once("close", resolve);
    request.once("close", () => {
      if (!request.complete) reject(new Refusal(400, "The upload was broken off."));
    });
  });
  try {
    request.pipe(parser);
    await whole;
    if (taken === undefined) throw notOneFile();
    await taken;
  } catch (error) {
    request.unpipe(parser);
    parser.destroy();
    throw error;
  }
}

/** Throws away what is still to come, for a browser reads the answer when it has sent everything; but not without end. */
export function discardRest(request: Request, maxBytes: number): void {
  let left = maxBytes;
  request.on("data", (data: Buffer) => {
    left -= data.length;
    if (left < 0) request.destroy();
  });
  request.resume(); // taking it off the form's parser has paused it
}

function parserOf(request: Request, maxBytes: number): busboy.Busboy {
  const type = request.get("content-type") ?? "";
  if (!/^multipart\/form-data\b/i.test(type)) throw new Refusal(415, "An upload is a form: multipart/form-data.");
  try {
    const limits = { fileSize: maxBytes, fields: 1, fieldSize: 1024, parts: 3, headerPairs: 20 };
    return busboy({ headers: request.headers, defParamCharset: "utf8", limits });
  } catch {
    throw new Refusal(400, "The form's boundary is missing.");
  }
}

function notOneFile(): Refusal {
  return Refusal.ofField("file", "The form must have exactly one part, a file with its name.");
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `The file is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB.`);
}
