import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { jsonText } from '../../core/model/json-text.ts';
import type { KubeObject, ObjectMeta } from '../../core/model/object-meta.ts';

/** A value and the JSON that it was parsed from, or sent as. */
interface Known<T> {
  readonly text: string;
  readonly value: T;
}

/** The status in a merge patch. */
export interface KnownStatus extends Known<object> {
  readonly patchText: string;
}

interface Write {
  readonly metadata: Known<ObjectMeta>;
  readonly status: Known<object> | undefined;
}

/** Of all that is kept, where no watch takes it. */
const MAX_CHARS = 512 * 1024;
/** The answers to what a server wrote together come that long after its first event. */
const ANSWERS_WITHIN_MS = 5;
/** In the place of what is known; nobody else can have written it. */
const METADATA_MARK = randomUUID();
const STATUS_MARK = randomUUID();

/** Undefined when the patch sets no status. */
export function statusOf(patch: object): KnownStatus | undefined {
  const { status, ...rest } = patch as { readonly status?: unknown };
  if (typeof status !== 'object' || status === null) return undefined;
  const text = jsonText(status);
  const head = jsonText(rest).slice(0, -1);
  return { text, value: status, patchText: `${head}${head === '{' ? '' : ','}"status":${text}}` };
}

/**
 * What was just written comes back by the watch, and large parts of it text for text: the metadata as the write was answered, the status
 * as it was sent. Where an event has the very same text, the value is known, and only the rest is parsed. An event that differs in
 * anything (a webhook changed it, the server orders its keys in another way) is parsed as a whole, so that nothing is believed but
 * what the server told.
 */
export class KnownTexts {
  /** By resourceVersion, the oldest first. */
  readonly #writes = new Map<string, Write>();
  #chars = 0;
  #underWay = 0;

  /** A write whose answer is to be told here. */
  async during<T>(write: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await write();
    } finally {
      this.#underWay -= 1;
    }
  }

  /**
   * What a watch brings waits for this: answers that come at the same time go first, since somebody waits for them before the next request
   * is sent, and by them the events are known.
   */
  async answersFirst(): Promise<void> {
    await (this.#underWay > 0 ? sleep(ANSWERS_WITHIN_MS) : nextTurn());
  }

  /** @param text that the answer was parsed from */
  written(answer: KubeObject, text: string, status: Known<object> | undefined): void {
    const { metadata } = answer;
    if (answer.kind !== 'PartialObjectMetadata' || Object.keys(answer).at(-1) !== 'metadata') return;
    const version = metadata.resourceVersion ?? '';
    this.#take(version);
    const from = startOf(METADATA_KEY, text, 0);
    const write = {
      metadata: { text: text.slice(from, text.lastIndexOf('}')), value: metadata },
      status,
    };
    this.#writes.set(version, write);
    this.#chars += charsOf(write);
    for (const [oldest] of this.#writes) {
      if (this.#chars <= MAX_CHARS) break;
      this.#take(oldest);
    }
  }

  /** Parses one event of a watch. */
  parse(line: string, parse: (text: string) => unknown): unknown {
    const metadataFrom = startOf(METADATA_KEY, line, 0);
    const known = metadataFrom === -1 ? undefined : this.#take(versionIn(line, metadataFrom));
    if (known === undefined || !line.startsWith(known.metadata.text, metadataFrom)) return parse(line);
    const restFrom = metadataFrom + known.metadata.text.length;
    const begin = `${line.slice(0, metadataFrom)}"${METADATA_MARK}"`;
    const statusFrom = startOf(STATUS_KEY, line, restFrom);
    const { status } = known;
    if (status === undefined || statusFrom === -1 || !line.startsWith(status.text, statusFrom))
      return filledIn(parse(begin + line.slice(restFrom)), known.metadata) ?? parse(line);
    const between = `${line.slice(restFrom, statusFrom)}"${STATUS_MARK}"`;
    const event = parse(begin + between + line.slice(statusFrom + status.text.length));
    return filledIn(event, known.metadata, status) ?? parse(line);
  }

  /** The watch tells of a version once. */
  #take(version: string): Write | undefined {
    const write = this.#writes.get(version);
    if (write === undefined) return undefined;
    this.#writes.delete(version);
    this.#chars -= charsOf(write);
    return write;
  }
}

const METADATA_KEY = '"metadata":';
const STATUS_KEY = '"status":';
const VERSION_KEY = '"resourceVersion":"';

/** Where the object begins that is the value; -1: nowhere. */
function startOf(key: string, text: string, from: number): number {
  const at = text.indexOf(`${key}{`, from);
  return at === -1 ? -1 : at + key.length;
}

function versionIn(line: string, from: number): string {
  const at = line.indexOf(VERSION_KEY, from);
  return at === -1 ? '' : line.slice(at + VERSION_KEY.length, line.indexOf('"', at + VERSION_KEY.length));
}

function charsOf({ metadata, status }: Write): number {
  return metadata.text.length + (status?.text.length ?? 0);
}

/** Undefined when the marks are not where the values belong. */
function filledIn(event: unknown, metadata: Known<ObjectMeta>, status?: Known<object>): unknown {
  const { object } = event as { readonly object?: { metadata?: unknown; status?: unknown } };
  if (object?.metadata !== METADATA_MARK) return undefined;
  if (status !== undefined && object.status !== STATUS_MARK) return undefined;
  object.metadata = metadata.value;
  if (status !== undefined) object.status = status.value;
  return event;
}
