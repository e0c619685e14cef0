import { ObjectCache } from '@berth/kube/cache/object-cache';
import { trimWork } from '../../src/controllers/works/work-inventory.ts';
import {
  startWorkControllers,
  type WorkControllers,
  type WorkControllersOptions,
} from '../../src/controllers/works/start-work-controllers.ts';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import { Supervisor } from '@berth/runtime/loop/supervisor';

export interface WorksAloneOptions extends Omit<WorkControllersOptions, 'cache'> {
  /** @param kind plural of the kind that cannot be read */
  readonly onWatchError?: (kind: string, error: unknown) => void;
}

/** The work controllers, in a process without the other parts of `berth serve`. */
export function startWorksAlone({ onWatchError, ...options }: WorksAloneOptions): WorkControllers {
  const { hub, clock, random, log } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const cache = new ObjectCache({
    api: hub,
    clock,
    random,
    log,
    transforms: { [MANIFEST_WORK.plural]: trimWork },
    onError: ({ plural }, error) => onWatchError?.(plural, error),
  });
  const works = startWorkControllers({ ...options, cache });
  cache.start(supervisor);
  return {
    whenIdle: () => works.whenIdle(),
    warnings: () => works.warnings(),
    close: async () => void (await Promise.all([works.close(), supervisor.close()])),
  };
}
