import type { ControllerState } from './controller-state.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { ServeOptions } from '../settings/serve-options.ts';
import type { SourceDependencies } from './open-sources.ts';

/**
 * Records deletions by sources, and deletions of their objects by others, for `berth history` and
 * for the restore of a hub from a backup.
 */
export function recordDeletions(
  { log }: ServeOptions,
  emit: (event: ControllerEventBody) => void,
  { deletions }: ControllerState,
): Pick<SourceDependencies, 'onDeleted' | 'readDeleted'> {
  return {
    onDeleted: (record) => {
      emit({ kind: 'deleted', record });
      deletions.append(record);
    },
    readDeleted: async (source) => {
      try {
        const records = await deletions.read();
        return records.flatMap(({ source: by, uid, byOthers }) =>
          by === source && byOthers !== true && uid !== undefined ? [uid] : [],
        );
      } catch (error) {
        log.warn(
          'recorded deletions cannot be read, so deleting objects that a backup restored counts toward the budget',
          { error },
        );
        return [];
      }
    },
  };
}
