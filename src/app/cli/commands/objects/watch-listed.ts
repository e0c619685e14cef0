import { ObjectCache } from '@berth/kube/cache/object-cache';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { errorText } from '@berth/runtime/errors';
import { SILENT_LOG } from '@berth/runtime/logger';
import { OncePerPeriod } from '@berth/runtime/loop/rate-limiter';
import { sleep, WakeUp } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { messageLines } from '../../../terminal/terminal-output.ts';
import { renderTextTable } from '../../../terminal/output-format.ts';
import { type ReadObjects, renderObjects, tableOf } from './get-output.ts';

/** What changes at one moment is printed together. */
const GATHER_MS = 100;
const TABLES = ['table', 'wide', 'clusteradm'];
/** Before the hub is read again after a failure. */
const RETRY_MS = 2_000;
/** The same problem is said again. */
const WARN_AGAIN_MS = 60_000;

export interface WatchedListing {
  readonly kinds: readonly KindInfo[];
  readonly scopes?: Readonly<Record<string, ListOptions>> | undefined;
  /** Undefined: all. */
  readonly namespace: string | undefined;
  /** Of the flag. */
  readonly output: string | undefined;
  readonly first: ReadObjects;
  readonly read: (hub: KubeApi) => Promise<ReadObjects>;
}

/** Prints the objects, then each row that changes, until the command is stopped. It goes on after an outage of the hub. */
export async function watchListed(io: CliIo, hub: KubeApi, listing: WatchedListing): Promise<void> {
  const { kinds, scopes, namespace, first, read } = listing;
  const due = new OncePerPeriod(() => systemClock.now(), WARN_AGAIN_MS);
  const report = (error: unknown): void => {
    const text = errorText(error);
    if (due.isDue(text)) io.stderr.write(messageLines('warning', text));
  };
  const shared = { clock: systemClock, random: Math.random, log: SILENT_LOG };
  const cache = new ObjectCache({
    ...shared,
    api: hub,
    // Who may read one namespace only may not follow all.
    scopes: Object.fromEntries(
      kinds.map((kind) => [kind.plural, { ...scopes?.[kind.plural], ...(kind.namespaced && { namespace }) }]),
    ),
    onError: (_kind, error) => report(error),
  });
  const changed = new WakeUp();
  for (const kind of kinds) cache.of(kind).store.onChange(() => changed.call());
  const supervisor = new Supervisor(shared);
  cache.start(supervisor);
  const printer = new ChangePrinter(io, listing);
  try {
    for (let found = first; !io.signal.aborted; ) {
      await printer.print(found);
      await changed.wait(io.signal);
      if (io.signal.aborted) return;
      await sleep(systemClock, GATHER_MS, io.signal);
      found = await read(hub).catch(async () => {
        // The watches say what is wrong.
        await sleep(systemClock, RETRY_MS, io.signal);
        changed.call();
        return found;
      });
    }
  } finally {
    await supervisor.close();
  }
}

/** Prints what is new since it last printed. */
class ChangePrinter {
  readonly #io: CliIo;
  readonly #listing: WatchedListing;
  #printed = new Map<string, string>();
  #hasHeader = false;

  constructor(io: CliIo, listing: WatchedListing) {
    this.#io = io;
    this.#listing = listing;
  }

  async print(found: ReadObjects): Promise<void> {
    const before = this.#printed;
    const now = new Map(found.objects.map((object) => [keyOf(object), this.#contentOf(found, object)]));
    this.#printed = now;
    const isNew = (object: KubeObject): boolean => before.get(keyOf(object)) !== now.get(keyOf(object));
    await this.#show(found, found.objects.filter(isNew));
    for (const key of before.keys())
      if (!now.has(key)) this.#io.stdout.write(`${key} is not listed any more\n`);
  }

  /** What makes a row another one: its cells but the age, or the version of the object. */
  #contentOf(found: ReadObjects, object: KubeObject): string {
    if (!isTable(this.#listing.output)) return object.metadata.resourceVersion ?? '';
    return JSON.stringify(tableOf({ ...found, objects: [object] }, this.#listing.output, 0).rows);
  }

  async #show(found: ReadObjects, objects: readonly KubeObject[]): Promise<void> {
    const { output } = this.#listing;
    if (!isTable(output)) {
      for (const object of objects)
        this.#io.stdout.write((await renderObjects(object, [object], output)) ?? '');
      return;
    }
    if (objects.length === 0) return;
    const { header, rows } = tableOf({ ...found, objects }, output, systemClock.now());
    const text = renderTextTable(header, rows);
    this.#io.stdout.write(this.#hasHeader ? text.slice(text.indexOf('\n') + 1) : text);
    this.#hasHeader = true;
  }
}

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind} ${namespacedName(metadata)}`;

function isTable(output: string | undefined): output is undefined | 'table' {
  return output === undefined || TABLES.includes(output);
}
