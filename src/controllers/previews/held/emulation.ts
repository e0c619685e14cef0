import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { MergedSources } from '../../../core/preview/sides/merge-sources.ts';
import type { SourceFinding } from '../../../core/sources/source-finding.ts';
import { DryRunTrials, type HubTrials } from './hub-trials.ts';

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
