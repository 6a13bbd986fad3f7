import { Catch, Logger } from "@nestjs/common";
import type { ArgumentsHost, ExceptionFilter } from "@nestjs/common";
import type { Request, Response } from "express";
import { problemOf } from "./problem.js";

/** Answers every failure with a problem. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger("Problem");

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const problem = problemOf(error, request.path);
    if (problem.status === 500) this.logger.error(error);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (problem.retry_after_ms !== undefined)
      response.set("Retry-After", String(Math.ceil(problem.retry_after_ms / 1000)));
    if (problem.status === 401) response.set("WWW-Authenticate", "Bearer");
    response.status(problem.status).type("application/problem+json").send(JSON.stringify(problem));
  }
}
