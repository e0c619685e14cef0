import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { sha256 } from '@berth/runtime/sha256';
import type { Request, Response } from 'express';
import type { Sight } from '../../../core/dashboard/sight.ts';

const [compress, unzip] = [promisify(gzip), promisify(gunzip)];

/** Making known answers again takes one part in so many of the time of this process. */
const PART_OF_TIME = 4;
/** What files and the hub say beside the kinds that count as changes is asked again after this time. */
const MAX_AGE_MS = 5_000;
const MAX_KEPT = 500;

interface KeptAnswer {
  readonly revision: number;
  readonly madeAtMs: number;
  isMade: boolean;
  readonly json: Promise<Buffer | undefined>;
}

/**
 * Answers that viewers with the same sight share. Few viewers see each change at once; many share the time there is, and see the
 * last answer until its turn comes.
 */
export class KeptJson {
  readonly #kept = new Map<string, KeptAnswer>();
  readonly #now: () => number;
  /** Until then no known answer is made again. */
  #restsUntilMs = 0;

  /** @param now milliseconds that only grow */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns gzipped JSON; undefined if `make` found nothing. @throws what `make` throws */
  get(
    { path, revision }: { readonly path: string; readonly revision: number },
    sight: Sight,
    make: () => unknown,
  ): Promise<Buffer | undefined> {
    const { allClusters, namespaces } = sight;
    const key = JSON.stringify([path, allClusters, namespaces === 'all' ? 'all' : [...namespaces].sort()]);
    const begunMs = this.#now();
    const known = this.#kept.get(key);
    if (known !== undefined) {
      const isNewest = known.revision === revision && begunMs - known.madeAtMs < MAX_AGE_MS;
      if (isNewest || !known.isMade || begunMs < this.#restsUntilMs) return known.json;
    }
    this.#kept.delete(key);
    if (this.#kept.size >= MAX_KEPT) this.#kept.delete([...this.#kept.keys()][0] ?? '');
    const json = zippedJson(make);
    const answer = { revision, madeAtMs: begunMs, isMade: false, json };
    this.#kept.set(key, answer);
    json.then(
      () => {
        answer.isMade = true;
        const nowMs = this.#now();
        const restMs = (nowMs - begunMs) * (PART_OF_TIME - 1);
        this.#restsUntilMs = Math.max(this.#restsUntilMs, nowMs + restMs);
      },
      () => this.#kept.get(key) === answer && this.#kept.delete(key),
    );
    return json;
  }
}

/** JSON of what `make` finds, gzipped; undefined: nothing. */
export async function zippedJson(make: () => unknown): Promise<Buffer | undefined> {
  const found = await make();
  return found === undefined ? undefined : compress(JSON.stringify(found), { level: 5 });
}

export async function sendZipped(request: Request, response: Response, body: Buffer): Promise<void> {
  response.type('json').set('vary', 'accept-encoding');
  if (request.acceptsEncodings('gzip') === false) return void response.send(await unzip(body));
  const tag = `"${sha256(body.toString('latin1')).slice(0, 16)}"`;
  response.set({ 'content-encoding': 'gzip', etag: tag, 'cache-control': 'private, no-cache' });
  if (request.headers['if-none-match'] === tag) response.status(304).end();
  else response.send(body);
}
