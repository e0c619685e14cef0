import { gunzipSync, gzipSync } from 'node:zlib';
import { retryOnConflict } from '@berth/kube/create-if-absent';
import { apiVersionOf, CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { z } from 'zod';
import { movesConfigMap, type PlacementMove } from '../../core/transition/unfinished-transition.ts';
import { METADATA_ONLY } from './hub-records.ts';

const MOVES = z.array(
  z.object({
    placement: z.string(),
    uid: z.string(),
    added: z.array(z.string()),
    removed: z.array(z.string()),
  }),
);

/** A ConfigMap may hold 1 MiB: about 18,000 placements that move from one cluster to another, or 90,000 names of clusters. */
const MAX_CHARS = 900_000;
const DATA = 'moves.json.gz';

/**
 * The moves of the leader's last transition, in a ConfigMap beside its Lease, for the process that takes over. They are written
 * before the pages, and each write is refused if another process has written since the last one.
 */
export class HubTransition {
  readonly #api: KubeApi;
  readonly #log: Logger;
  readonly #key: ObjectKey;
  /** The resource version; undefined: read it first. '': there is no ConfigMap. */
  #version: string | undefined;
  #text: string | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isRefused = false;

  /** @param lease `namespace/name` of the Lease of the leader */
  constructor(api: KubeApi, lease: string, log: Logger) {
    const [namespace = '', name = ''] = lease.split('/');
    this.#api = api;
    this.#log = log;
    this.#key = { namespace, name: movesConfigMap(name) };
  }

  /**
   * @returns what the last leader stored. What is damaged, or may not be read, counts as nothing
   * @throws TransientError while the hub does not answer
   */
  async read(): Promise<readonly PlacementMove[]> {
    try {
      return await this.#read();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#failed(error);
      return [];
    }
  }

  /** Resolves when the hub has stored them, or could not. Writes are made one after the other. */
  write(moves: readonly PlacementMove[]): Promise<void> {
    const text = encode(moves);
    this.#writing = this.#writing.then(async () => {
      try {
        await retryOnConflict(() => this.#write(text));
        this.#isRefused = false;
      } catch (error) {
        this.#failed(error);
      }
    });
    return this.#writing;
  }

  /** A hub that refuses costs what the next leader would know, but no decision. An outage is reported elsewhere. */
  #failed(error: unknown): void {
    if (!(error instanceof InputError) || this.#isRefused) return;
    this.#isRefused = true;
    this.#log.warn('the next leader will not know what this one was about to publish', { error });
  }

  async #read(): Promise<readonly PlacementMove[]> {
    const object = await this.#api.get(CONFIG_MAP, this.#key);
    this.#version = object?.metadata.resourceVersion ?? '';
    this.#text = ((object?.['binaryData'] ?? {}) as Readonly<Record<string, string>>)[DATA] ?? '';
    return decode(this.#text);
  }

  async #write(text: string): Promise<void> {
    if (this.#version === undefined) await this.#read();
    if (text === this.#text) return;
    const resourceVersion = this.#version;
    // Unknown until the hub has answered.
    this.#version = undefined;
    const { metadata } = await this.#put({ [DATA]: text }, resourceVersion);
    this.#version = metadata.resourceVersion;
    this.#text = text;
  }

  #put(binaryData: Readonly<Record<string, string>>, resourceVersion = ''): Promise<KubeObject> {
    if (resourceVersion !== '')
      return this.#api.mergePatch(
        CONFIG_MAP,
        this.#key,
        { metadata: { resourceVersion }, binaryData },
        METADATA_ONLY,
      );
    const made = { apiVersion: apiVersionOf(CONFIG_MAP), kind: CONFIG_MAP.kind, metadata: { ...this.#key } };
    return this.#api.create(CONFIG_MAP, { ...made, binaryData }, METADATA_ONLY);
  }
}

/** @returns '' for no moves, and for more than a ConfigMap may hold */
function encode(moves: readonly PlacementMove[]): string {
  if (moves.length === 0) return '';
  const text = gzipSync(JSON.stringify(moves), { level: 1 }).toString('base64');
  return text.length > MAX_CHARS ? '' : text;
}

function decode(text: string): readonly PlacementMove[] {
  if (text === '') return [];
  try {
    return MOVES.parse(JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString()));
  } catch {
    return [];
  }
}
