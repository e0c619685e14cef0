import type { ControllerState } from './controller-state.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { ServeOptions } from '../settings/serve-options.ts';
import type { SourceDependencies } from './open-sources.ts';

/**
 * Records which objects sources deleted, and which of their objects others deleted. The records are for users, and for
 * a hub that is restored from a backup.
 */
export function recordDeletions(
  { log }: ServeOptions,
  emit: (happening: ControllerEventBody) => void,
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
