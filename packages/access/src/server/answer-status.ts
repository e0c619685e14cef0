import type { ServerResponse } from 'node:http';

/** An answer in Kubernetes' form, so that kubectl prints the message. */
export interface StatusText {
  readonly reason: string;
  readonly message: string;
}

/** A Status, unless an answer has begun. */
export function answerStatus(response: ServerResponse, code: number, { reason, message }: StatusText): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  answerJson(response, code, status);
}

export function answerJson(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}
