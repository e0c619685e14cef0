import { ObjectCache } from '@berth/kube/cache/object-cache';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { errorText } from '@berth/runtime/errors';
import { SILENT_LOG } from '@berth/runtime/logger';
import { sleep, WakeUp } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { messageLines } from '../../../terminal/terminal-output.ts';
import { renderTextTable } from '../../../terminal/text-table.ts';
import { type ReadObjects, renderObjects, tableOf } from './get-output.ts';

/** What changes at one moment is printed together. */
const GATHER_MS = 100;
const TABLES = ['table', 'wide', 'clusteradm'];
/** Before the hub is read again after a failure. */
const RETRY_MS = 2_000;

export interface WatchedListing {
  readonly kinds: readonly KindInfo[];
  readonly scopes?: Readonly<Record<string, ListOptions>> | undefined;
  /** Of the flag. */
  readonly output: string | undefined;
  readonly first: ReadObjects;
  readonly read: (hub: KubeApi) => Promise<ReadObjects>;
}

/** Prints the objects, then each row that changes, until the command is stopped. It goes on after an outage of the hub. */
export async function watchListed(io: CliIo, hub: KubeApi, listing: WatchedListing): Promise<void> {
  const { kinds, scopes, first, read } = listing;
  const shared = { clock: systemClock, random: Math.random, log: SILENT_LOG };
  const cache = new ObjectCache({
    ...shared,
    api: hub,
    scopes,
    onError: (_kind, error) => report(io, error),
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

function report(io: CliIo, error: unknown): void {
  io.stderr.write(messageLines('warning', errorText(error)));
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
    const now = new Map(
      found.objects.map((object) => [
        `${object.kind} ${namespacedName(object.metadata)}`,
        this.#contentOf(found, object),
      ]),
    );
    const isNew = ({ kind, metadata }: KubeObject): boolean => {
      const key = `${kind} ${namespacedName(metadata)}`;
      return before.get(key) !== now.get(key);
    };
    this.#printed = now;
    await this.#show(found, found.objects.filter(isNew));
    for (const key of before.keys())
      if (!now.has(key)) this.#io.stdout.write(`${key} is not listed any more\n`);
  }

  /** What makes a row another one: its cells but the age, or the version of the object. */
  #contentOf(found: ReadObjects, object: KubeObject): string {
    const { output } = this.#listing;
    if (!isTable(output)) return object.metadata.resourceVersion ?? '';
    return JSON.stringify(tableOf({ ...found, objects: [object] }, output, 0).rows);
  }

  async #show(found: ReadObjects, objects: readonly KubeObject[]): Promise<void> {
    const { output } = this.#listing;
    const { stdout } = this.#io;
    if (!isTable(output)) {
      for (const object of objects) stdout.write((await renderObjects(object, [object], output)) ?? '');
      return;
    }
    if (objects.length === 0) return;
    const { header, rows } = tableOf({ ...found, objects }, output, systemClock.now());
    const text = renderTextTable(header, rows);
    stdout.write(this.#hasHeader ? text.slice(text.indexOf('\n') + 1) : text);
    this.#hasHeader = true;
  }
}

function isTable(output: string | undefined): output is undefined | 'table' {
  return output === undefined || TABLES.includes(output);
}
