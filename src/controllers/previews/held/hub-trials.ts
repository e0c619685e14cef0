import { missingNamespace } from '@berth/agent/rules/applied/kube-failure';
import { DryRunKubeApi } from '@berth/kube/dry-run-kube-api';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { fieldConflicts, type KubeStatus } from '@berth/kube/transport/kube-errors';
import { BerthError, TransientError } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import { inputKey } from '../../../core/preview/sides/held-objects.ts';
import { applySetId, parentOfSource } from '../../../core/sync/apply-set.ts';
import { isApplied, placeObject } from '../../../core/sync/desired-object.ts';
import type { LeftField } from '../../../core/sync/left-fields.ts';
import { plannedApply } from '../../../core/sync/planned-apply.ts';
import { applyDesired } from '../../sources/following/apply-desired.ts';
import { readOne } from '../../sources/members/objects-on-hub.ts';
import { syncProblemOf } from '../../sources/members/sync-problem.ts';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { MergedSources } from '../../../core/preview/sides/merge-sources.ts';
import type { SourceFinding } from '../../../core/sources/source-finding.ts';

/** What a plan says where the hub is not asked. @param because `for a fork` */
export function notAskedNote(because: string): string {
  return (
    `The hub is not asked what it would refuse or change of these objects, ${because}. ` +
    'Its rules that are known to Berth count, and who owns which field.'
  );
}

/** An object that a source would apply. */
export interface TriedObject {
  readonly object: KubeObject;
  /** The name of the source. */
  readonly source: string;
  /** The source takes fields that other managers own. */
  readonly takesFields: boolean;
}

/** What the hub would do. */
export type Trial =
  | { readonly kind: 'held'; readonly object: KubeObject; readonly left: readonly LeftField[] }
  | { readonly kind: 'refused'; readonly because: string }
  /** The hub cannot say it now. */
  | { readonly kind: 'unknown'; readonly because: string };

/** Asks a hub what it would do. Nothing is written. */
export interface HubTrials {
  /** @returns the object as the hub would hold it; what decisions are not made from is returned as it was given */
  apply(tried: TriedObject): Promise<Trial>;
  /** @returns `held` if the hub would delete the object */
  delete(object: KubeObject): Promise<Trial>;
}

export interface DryRunOptions {
  readonly api: KubeApi;
  /** See `DesiredOptions`. */
  readonly annotatePlacements: boolean;
}

/** Sends what the controller would send, as dry runs of the server. */
export class DryRunTrials implements HubTrials {
  readonly #options: DryRunOptions;
  readonly #dryRun: KubeApi;

  constructor(options: DryRunOptions) {
    this.#options = options;
    this.#dryRun = new DryRunKubeApi(options.api);
  }

  apply({ object, source, takesFields }: TriedObject): Promise<Trial> {
    const { api, annotatePlacements } = this.#options;
    return answered(object, async () => {
      const kind = await api.resolve(object.apiVersion, object.kind);
      if (kind === undefined) return unknown('the hub does not serve its kind');
      const placed = placeObject(object, kind);
      const live = await readOne(api, kind, placed);
      const { fromGit, sent, left } = plannedApply(placed, live, {
        applySetId: applySetId(sha256, parentOfSource(source)),
        digest: sha256,
        annotatePlacements,
        takesFields,
      });
      const heldAs = (answer: KubeObject): KubeObject => (inputKey(object) === undefined ? object : answer);
      if (live !== undefined && sent !== undefined && isApplied(sent, live))
        return { kind: 'held', object: heldAs(live), left };
      const task = { api: this.#dryRun, kind, desired: fromGit, live, force: takesFields };
      const applied = await applyDesired(task);
      return { kind: 'held', object: heldAs(applied.live), left: applied.left };
    });
  }

  delete(object: KubeObject): Promise<Trial> {
    return answered(object, async () => {
      const kind = await this.#options.api.resolve(object.apiVersion, object.kind);
      if (kind === undefined) return unknown('the hub does not serve its kind');
      const { name, namespace = '', uid } = object.metadata;
      await this.#dryRun.delete(kind, { name, namespace }, { uid, propagationPolicy: 'Background' });
      return { kind: 'held', object, left: [] };
    });
  }
}

async function answered(object: KubeObject, ask: () => Promise<Trial>): Promise<Trial> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const lacking = LACKS_RIGHT.exec(error.message)?.[0];
    if (lacking !== undefined) return unknown(lacking);
    const because = wordsOf(error, object);
    return isNoAnswer(error) ? unknown(because) : { kind: 'refused', because };
  }
}

/** The words of the hub, if it answered. */
function wordsOf(error: BerthError, object: KubeObject): string {
  const { message } = (error.cause ?? {}) as Partial<KubeStatus>;
  return message === undefined || fieldConflicts(error).length > 0
    ? syncProblemOf({ object }, error).message
    : message;
}

function unknown(because: string): Trial {
  return { kind: 'unknown', because };
}

/** Whether the error does not say what the hub does with the object of the controller. */
function isNoAnswer(error: BerthError): boolean {
  return (
    error instanceof TransientError || missingNamespace(error) !== undefined || NO_DRY_RUN.test(error.message)
  );
}

/** Source: k8s.io/apiserver `endpoints/handlers/responsewriters/errors.go` (forbiddenMessage). */
const LACKS_RIGHT = /\bUser "[^"]*" cannot \w+ resource "[^"]*"(?: in API group "[^"]*")?/;
/** Source: k8s.io/apiserver `admission/plugin/webhook/errors/statuserror.go` (NewDryRunUnsupportedErr). */
const NO_DRY_RUN = /does not support dry run/;

/** What takes the place of the answers of a hub, where it is not asked. */
export interface Emulation {
  /** Finds what a hub would refuse of new objects, by the definitions of kinds that are known here or in Git. */
  refusals(objects: readonly SourceObject[]): Promise<readonly SourceFinding[]>;
  /**
   * Computes what the hub makes of the objects that it has. Undefined: it cannot be read.
   * @param objects that will be tried
   */
  readonly trials: ((objects: readonly KubeObject[]) => Promise<HubTrials>) | undefined;
}

/** A hub that is read and not asked. */
export interface ReadHub {
  readonly api: KubeApi;
  /** See `DesiredOptions`. */
  readonly annotatePlacements: boolean;
}

/** @param head with the definitions of kinds that Git has */
export function emulationOf(head: Pick<MergedSources, 'objects'>, hub: ReadHub | undefined): Emulation {
  const definitions = head.objects.filter(({ object }) => object.kind === 'CustomResourceDefinition');
  return {
    refusals: async (objects) => {
      if (objects.length === 0) return [];
      const { hubRefusals } = await import('../../sources/acceptance/hub-refusals.ts');
      const asked = new Set(objects);
      const found = hubRefusals([...objects, ...definitions.filter((one) => !asked.has(one))]);
      return found.filter(({ source }) => asked.has(source));
    },
    trials:
      hub &&
      (async (objects) => {
        const { EmulatedHub } = await import('../../sources/acceptance/emulated-hub.ts');
        const { hubKinds } = await import('../../sources/acceptance/hub-kinds.ts');
        const api = new EmulatedHub(hub.api, hubKinds(definitions.map(({ object }) => object)));
        await api.prepare(objects);
        return new DryRunTrials({ ...hub, api });
      }),
  };
}
