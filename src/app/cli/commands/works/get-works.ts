import { listWorks } from '../../../../core/listing/list-works.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import { getCommand, type GetFlags } from '../objects/get-command.ts';

interface GetWorksFlags extends GetFlags {
  readonly cluster?: string;
}

export const getWorksCommand = getCommand<GetWorksFlags>({
  plural: 'works',
  aliases: ['work'],
  describe: async (hub, object) =>
    (await import('../objects/describe-sections.ts')).workSections(hub, object),
  kinds: [MANIFEST_WORK],
  description: 'list ManifestWorks: where they are, whether they are applied, available and degraded',
  examples: ['works', 'works --cluster cluster1', 'works my-first-work -o json'],
  addOptions: (command) => command.option('--cluster <name>', 'only this managed cluster: its namespace'),
  read: async (hub, { cluster }, selection) => {
    const { items } = await hub.list(MANIFEST_WORK, {
      ...selection,
      namespace: cluster ?? selection.namespace,
    });
    return {
      objects: items,
      list: (objects, nowMs) => listWorks(objects as unknown as readonly ManifestWork[], nowMs),
    };
  },
});
