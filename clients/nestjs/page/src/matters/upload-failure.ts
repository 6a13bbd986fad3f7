import type { ApiError } from "../core/api.js";

/** What is wrong with a file and what to do, in one or two sentences, from the answer to its upload. */
export function uploadFailure(error: ApiError): string {
  const { problem } = error;
  const data = problem.violations?.find(({ field }) => field === "data")?.description ?? "";
  const most = /larger than ([\d,]+) bytes/.exec(data + (problem.detail ?? ""))?.[1];
  if (most !== undefined)
    return `The file is too large: at most ${megabytes(most)} are taken. Split it and upload the parts.`;
  if (error.status === 413) return "The file is too large. Split it and upload the parts.";
  if (data === "is empty" || /\bis empty\b/.test(problem.detail ?? "")) {
    return "The file is empty. Save it again where it was made, then upload it.";
  }
  if (error.reason === "UNSUPPORTED_DOCUMENT") return sentence(problem.detail ?? UNSUPPORTED);
  if (error.status === 415) return UNSUPPORTED;
  if (error.reason === "MATTER_NOT_FOUND") return "The matter does not exist any more. Choose another one.";
  if (error.status === 0) return "The connection was lost. Check it and upload the file again.";
  if (error.status === 503) return "The service takes no uploads at the moment. Try again in a minute.";
  return sentence(error.message);
}

/** What the service reads, for the file chooser and for people. */
export const EXTENSIONS = [".pdf", ".docx", ".html", ".htm", ".md", ".markdown", ".txt", ".text"] as const;

const UNSUPPORTED = "This type of file is not read. Save it as PDF, Word (.docx), HTML, Markdown or plain text.";

function megabytes(bytes: string): string {
  const value = Number(bytes.replaceAll(",", ""));
  return value >= 1_000_000 ? `${Math.floor(value / 100_000) / 10} MB` : `${bytes} bytes`;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  const capital = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
