import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { randomUUID } from 'node:crypto';
import type { RequestInfo } from '../http/request-info.ts';
import type { HubRequest } from '../http/transport.ts';
import { headerOf } from '../http/transport.ts';
import type { UserInfo } from '../write/write-request.ts';
import { userJson } from './access-review.ts';

const ROTATE_BYTES = 64 * 1024 * 1024;

export interface AuditSubject {
  readonly info?: RequestInfo;
  readonly user?: UserInfo;
  readonly cluster?: string;
}

export interface Finished {
  readonly code: number;
  readonly startedMs: number;
}

/** Who did what, one audit.k8s.io event per line (level Metadata: never bodies, never tokens). */
export interface AuditLog {
  record(request: HubRequest, subject: AuditSubject, finished: Finished): void;
  close(): Promise<void>;
}

export const NO_AUDIT: AuditLog = { record: () => undefined, close: () => Promise.resolve() };

/** Writes and refusals go to the file, reads only with `reads`; at 64 MiB the file is put aside as `.1`. */
export class FileAuditLog implements AuditLog {
  readonly #path: string;
  readonly #reads: boolean;
  #stream: WriteStream;
  #bytes: number;

  constructor(path: string, options: { readonly reads: boolean }) {
    this.#path = path;
    this.#reads = options.reads;
    this.#bytes = existsSync(path) ? statSync(path).size : 0;
    this.#stream = this.#open();
  }

  record(request: HubRequest, subject: AuditSubject, finished: Finished): void {
    const { info, user } = subject;
    const read = info === undefined || ['get', 'list', 'watch', 'head'].includes(info.verb);
    if (read && !this.#reads && finished.code < 400) return;
    const time = new Date(finished.startedMs).toISOString();
    const line = `${JSON.stringify({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: randomUUID(),
      stage: 'ResponseComplete',
      requestURI: request.url,
      verb: info?.verb ?? '',
      user: user === undefined ? undefined : userJson(user),
      sourceIPs: [request.socket.remoteAddress ?? ''],
      userAgent: headerOf(request, 'user-agent'),
      objectRef: info?.kind === 'resource' ? objectRef(info) : undefined,
      responseStatus: { code: finished.code },
      requestReceivedTimestamp: time,
    })}\n`;
    this.#stream.write(line);
    this.#bytes += line.length;
    if (this.#bytes >= ROTATE_BYTES) this.#rotate();
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#stream.end(() => resolve()));
  }

  #rotate(): void {
    this.#stream.end();
    renameSync(this.#path, `${this.#path}.1`);
    this.#bytes = 0;
    this.#stream = this.#open();
  }

  #open(): WriteStream {
    const stream = createWriteStream(this.#path, { flags: 'a', mode: 0o600 });
    // A full disk must not take the hub down through its audit log: the journal notices on its own.
    stream.on('error', () => undefined);
    return stream;
  }
}

function objectRef(info: Extract<RequestInfo, { kind: 'resource' }>): Record<string, string> {
  const { resource, namespace, name, group, version, subresource } = info;
  const all = { resource, namespace, name, apiGroup: group, apiVersion: version, subresource };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
