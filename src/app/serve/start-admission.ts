import type { RunningAdmission } from '../../controllers/admission/start-admission-webhooks.ts';
import { DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';
import type { ServeOptions } from '../settings/serve-options.ts';
import type { ControllerMetrics } from './http/controller-metrics.ts';

/** Starts the admission webhooks of OCM's rules, if enabled. Loaded on demand. */
export function startAdmission(parts: {
  readonly options: ServeOptions;
  readonly metrics: Pick<ControllerMetrics, 'reviewed'>;
}): Pick<RunningAdmission, 'warnings' | 'close'> | undefined {
  const { options, metrics } = parts;
  const { api: hub, clock, random, log, leadership, namespace = DEFAULT_NAMESPACE, admission } = options;
  if (admission === undefined) return undefined;
  let running: RunningAdmission | undefined;
  let isClosed = false;
  const started = import('../../controllers/admission/start-admission-webhooks.ts').then(
    ({ startAdmissionWebhooks }) => {
      if (isClosed) return;
      running = startAdmissionWebhooks({
        ...{ hub, clock, random, log, namespace },
        ...admission,
        mayWrite: () => leadership?.isHeld !== false,
        onResponse: (verdict) => metrics.reviewed(verdict),
      });
    },
  );
  return {
    warnings: () => running?.warnings() ?? [],
    close: async () => {
      isClosed = true;
      await started;
      await running?.close();
    },
  };
}
