import { systemClock } from '@berth/runtime/clock/system-clock';
import { ObjectCache } from '@berth/kube/cache/object-cache';
import { CONFIG_MAP, MANIFEST_WORK, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { namespacedName } from '@berth/kube/model/object-ref';
import { placementOfPage } from '../../../src/core/publish/pages/decision-page.ts';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const KINDS = {
  placements: PLACEMENT,
  decisions: PLACEMENT_DECISION,
  works: MANIFEST_WORK,
  configMaps: CONFIG_MAP,
} as const;

/** What a test compares of a hub. */
export type HubObjects = Readonly<Record<keyof typeof KINDS, readonly KubeObject[]>>;

/** Files and events change without the hub: what waits looks at them that often. */
const LOOK_AGAIN_MS = 200;

/** Follows a hub, so that a test waits for what it shows without asking it again and again. */
export class HubView {
  readonly #cache: ObjectCache;
  readonly #supervisor: Supervisor;
  readonly #api: KubeApi;
  #wake = (): void => undefined;

  private constructor(api: KubeApi) {
    const tools = { clock: systemClock, random: Math.random, log: new SilentLogger() };
    this.#api = api;
    this.#cache = new ObjectCache({ api, ...tools });
    this.#supervisor = new Supervisor(tools);
  }

  static async open(api: KubeApi): Promise<HubView> {
    const view = new HubView(api);
    const reflectors = Object.values(KINDS).map((kind) => view.#cache.of(kind));
    for (const { store } of reflectors) store.onChange(() => view.#wake());
    view.#cache.start(view.#supervisor);
    await Promise.all(reflectors.map((reflector) => reflector.whenSynced(view.#supervisor.signal)));
    return view;
  }

  /** As the watches showed it. */
  get objects(): HubObjects {
    return byKind((kind) => this.#cache.of(KINDS[kind]).store.list());
  }

  /** As the hub answers now. */
  async read(): Promise<HubObjects> {
    const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
    const lists = await Promise.all(
      kinds.map(async (kind) => [kind, (await this.#api.list(KINDS[kind])).items] as const),
    );
    const of = new Map(lists);
    return byKind((kind) => of.get(kind) ?? []);
  }

  /** Whether it comes true in time. */
  async until(isTrue: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
    const deadlineMs = Date.now() + timeoutMs;
    for (;;) {
      const changed = this.#nextChange();
      if (await isTrue()) return true;
      if (Date.now() > deadlineMs) return false;
      await changed;
    }
  }

  async close(): Promise<void> {
    await this.#supervisor.close();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      // fixed wait: the pace of a poll
      const timer = setTimeout(resolve, LOOK_AGAIN_MS);
      const wakeOthers = this.#wake;
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        // What came with the same answer is seen with it.
        setImmediate(resolve);
        wakeOthers();
      };
    });
  }
}

function byKind(of: (kind: keyof typeof KINDS) => readonly KubeObject[]): HubObjects {
  return {
    placements: of('placements'),
    decisions: of('decisions'),
    works: of('works'),
    configMaps: of('configMaps'),
  };
}

/** The pages whose placement is not on the hub. */
export function pagesWithoutPlacement({ placements, decisions }: HubObjects): readonly KubeObject[] {
  const keys = new Set(placements.map(({ metadata }) => namespacedName(metadata)));
  return decisions.filter((page) => {
    const owner = placementOfPage(page);
    return owner !== undefined && !keys.has(owner);
  });
}

/** The placements without a page. A placement that selects no cluster has an empty one. */
export function placementsWithoutPage({ placements, decisions }: HubObjects): readonly KubeObject[] {
  const owners = new Set(decisions.map(placementOfPage));
  return placements.filter(({ metadata }) => !owners.has(namespacedName(metadata)));
}
