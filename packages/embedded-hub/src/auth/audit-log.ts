import { randomUUID } from 'node:crypto';
import { type WriteStream, createWriteStream, fchmodSync, fstatSync, openSync, renameSync } from 'node:fs';
import { type HubRequest, headerOf } from '../wire/api-response.ts';
import type { RequestInfo } from '@berth/kube/request-info';
import type { UserInfo } from '../wire/user-info.ts';
import { userJson } from './access-review.ts';

export interface AuditSubject {
  readonly info?: RequestInfo;
  /** The user who sent the request; absent if the request is not authenticated. */
  readonly caller?: UserInfo;
  /** The user that the caller impersonates. */
  readonly impersonated?: UserInfo;
  /** '' is the hub. */
  readonly cluster?: string;
  /**
   * Address of the connection. X-Forwarded-For is not recorded, because clients can set it to
   * anything.
   */
  readonly address: string;
  /** Audit annotations of admission, by key. */
  readonly annotations?: ReadonlyMap<string, string>;
}

export interface AuditResult {
  readonly code: number;
  readonly startedMs: number;
  readonly durationMs: number;
}

/** The audit log, one audit.k8s.io event per line (level Metadata: never bodies, never tokens). */
export interface AuditLog {
  record(request: HubRequest, subject: AuditSubject, finished: AuditResult): void;
  close(): Promise<void>;
}

export const NO_AUDIT: AuditLog = { record: () => undefined, close: () => Promise.resolve() };

/**
 * Changes (with `reads` all allowed requests) go to one file, refusals to another. Both are bounded, and any client
 * can cause refusals: in one file, a flood of them would push out the record of changes.
 */
export class FileAuditLog implements AuditLog {
  readonly #changes: RotatingFile;
  readonly #refusals: RotatingFile;
  readonly #reads: boolean;

  constructor(
    paths: { readonly changes: string; readonly refusals: string },
    options: { readonly reads: boolean },
  ) {
    this.#changes = new RotatingFile(paths.changes);
    this.#refusals = new RotatingFile(paths.refusals);
    this.#reads = options.reads;
  }

  record(request: HubRequest, subject: AuditSubject, finished: AuditResult): void {
    const refused = finished.code >= 400;
    if (!refused && !this.#reads && changesNothing(subject.info)) return;
    const file = refused ? this.#refusals : this.#changes;
    file.append((dropped) => eventLine(eventOf(request, subject, finished, dropped)));
  }

  async close(): Promise<void> {
    await Promise.all([this.#changes.close(), this.#refusals.close()]);
  }
}

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head']);
/** Kinds that are evaluated and not stored. */
const REVIEW_RESOURCE = /reviews$/;
const REVIEW_GROUPS: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

function changesNothing(info: RequestInfo | undefined): boolean {
  if (info === undefined || READ_VERBS.has(info.verb)) return true;
  return info.kind === 'resource' && REVIEW_GROUPS.has(info.group) && REVIEW_RESOURCE.test(info.resource);
}

/** Texts of clients are cut to this many characters; kube-apiserver cuts a user agent at 1024. */
const URI_CHARACTERS = 2_048;
const AGENT_CHARACTERS = 256;

function eventOf(
  request: HubRequest,
  { info, caller, impersonated, cluster, address, annotations: admissionAnnotations }: AuditSubject,
  { code, startedMs, durationMs }: AuditResult,
  dropped: number,
): Record<string, unknown> {
  const annotations = {
    ...truncateAnnotations(admissionAnnotations),
    ...(cluster !== undefined && cluster !== '' && { 'berth.dev/cluster': cluster }),
    ...(dropped > 0 && { 'berth.dev/events-dropped-before': String(dropped) }),
  };
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: randomUUID(),
    stage: 'ResponseComplete',
    requestURI: truncate(request.url ?? '', URI_CHARACTERS),
    verb: truncate(info?.verb ?? '', AGENT_CHARACTERS),
    user: caller === undefined ? {} : userJson(caller),
    impersonatedUser: impersonated === undefined ? undefined : userJson(impersonated),
    sourceIPs: [address],
    userAgent: truncate(headerOf(request, 'user-agent') ?? '', AGENT_CHARACTERS),
    objectRef: info?.kind === 'resource' ? objectRef(info) : undefined,
    responseStatus: { metadata: {}, code },
    requestReceivedTimestamp: microTime(startedMs),
    stageTimestamp: microTime(startedMs + durationMs),
    annotations: Object.keys(annotations).length === 0 ? undefined : annotations,
  };
}

const MAX_ANNOTATIONS = 64;

/** Texts of webhooks are cut like texts of clients. */
function truncateAnnotations(
  admissionAnnotations: ReadonlyMap<string, string> | undefined,
): Record<string, string> {
  const entries = [...(admissionAnnotations ?? [])].slice(0, MAX_ANNOTATIONS);
  return Object.fromEntries(
    entries.map(([key, value]) => [truncate(key, AGENT_CHARACTERS), truncate(value, AGENT_CHARACTERS * 4)]),
  );
}

/**
 * Characters that JSON does not escape but that affect terminals and editors: DEL and C1 controls,
 * line separators, and marks that change the direction of text.
 */
const ACTIVE_CHARACTERS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** One line, in which characters of clients have no effect when the file is displayed. */
function eventLine(event: Record<string, unknown>): string {
  const json = JSON.stringify(event).replace(
    ACTIVE_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${json}\n`;
}

function truncate(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}...`;
}

/** A MicroTime of Kubernetes, to the millisecond. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

function objectRef(info: Extract<RequestInfo, { kind: 'resource' }>): Record<string, string> {
  const { resource, namespace, name, group, version, subresource } = info;
  const all = { resource, namespace, name, apiGroup: group, apiVersion: version, subresource };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== '')
      .map(([key, value]) => [key, truncate(value, AGENT_CHARACTERS)]),
  );
}

const ROTATE_BYTES = 64 * 1024 * 1024;
/** Maximum size of lines that are not written yet; further lines are dropped and counted. */
const BACKLOG_BYTES = 16 * 1024 * 1024;

/**
 * Lines appended to a file that only its owner can read; at 64 MiB the file is renamed to `.1`, so
 * that two files exist at most.
 */
export class RotatingFile {
  readonly #path: string;
  #stream: WriteStream;
  #bytes: number;
  #dropped = 0;

  /** @throws Error when the file cannot be opened */
  constructor(path: string) {
    this.#path = path;
    const { stream, bytes } = openLines(path);
    this.#stream = stream;
    this.#bytes = bytes;
  }

  /** @param render makes the line, given how many were dropped before it because the disk was too slow */
  append(render: (dropped: number) => string): void {
    if (this.#stream.writableLength > BACKLOG_BYTES) {
      this.#dropped += 1;
      return;
    }
    const line = render(this.#dropped);
    this.#dropped = 0;
    this.#stream.write(line);
    this.#bytes += Buffer.byteLength(line);
    if (this.#bytes >= ROTATE_BYTES) this.#rotate();
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#stream.end(() => resolve()));
  }

  #rotate(): void {
    try {
      renameSync(this.#path, `${this.#path}.1`);
      const next = openLines(this.#path);
      this.#stream.end();
      this.#stream = next.stream;
      this.#bytes = next.bytes;
    } catch {
      // Later lines still go to the open file; the next one tries again.
    }
  }
}

const OWNER_ONLY = 0o600;

function openLines(path: string): { readonly stream: WriteStream; readonly bytes: number } {
  // Opened immediately: a stream opens its path later, when the file may have been renamed already.
  const fd = openSync(path, 'a', OWNER_ONLY);
  // An existing file may be readable by others.
  fchmodSync(fd, OWNER_ONLY);
  const stream = createWriteStream(path, { fd });
  // A full disk must not stop the hub because of its audit log; the append log reports it.
  stream.on('error', () => undefined);
  return { stream, bytes: fstatSync(fd).size };
}
