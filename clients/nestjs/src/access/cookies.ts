import type { CookieOptions, Request, Response } from "express";
import type { SignInSettings } from "../settings.js";

/**
 * A cookie that scripts cannot read. Over https its name begins with `__Host-`: browsers take such a one from this host
 * alone, over https alone, so that no neighbouring host can plant one.
 */
export class SafeCookie {
  private readonly name: string;
  private readonly options: CookieOptions;

  constructor({ publicUrl }: SignInSettings, name: string, sameSite: "lax" | "strict") {
    const secure = publicUrl.protocol === "https:";
    this.name = secure ? `__Host-${name}` : name;
    this.options = { httpOnly: true, secure, sameSite, path: "/" };
  }

  of(request: Request): string | undefined {
    const start = `${this.name}=`;
    const pairs = (request.headers.cookie ?? "").split(/; */);
    return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
  }

  /** Kept until the browser is closed when no time is given. */
  set(response: Response, value: string, maxAge?: number): void {
    response.cookie(this.name, value, { ...this.options, ...(maxAge !== undefined && { maxAge }) });
  }

  clear(response: Response): void {
    response.clearCookie(this.name, this.options);
  }
}
