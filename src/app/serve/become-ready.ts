import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import { PublishPipeline } from '../../controllers/publication/publish-pipeline.ts';
import type { UpstreamDecisions } from '../../controllers/publication/upstream-decisions.ts';
import type { RepositoryLoop } from '../../controllers/sources/following/repository-loop.ts';
import type { Clock } from '@berth/runtime/clock/clock';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import { sleep } from '@berth/runtime/loop/sleep';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import type { ControllerHttp } from './http/controller-http.ts';
import type { Readiness } from './http/readiness.ts';
import type { Standby } from './standby.ts';

/** What is missing at the start is looked for again after this time. */
const LOOK_AGAIN_MS = 1_000;

export interface ReadyParts {
  readonly options: { readonly clock: Clock };
  readonly decider: PublishPipeline | UpstreamDecisions;
  readonly standby: Standby | undefined;
  readonly publishedPlacements: PublishedPlacements;
  readonly readiness: Readiness;
  readonly leadership: Leadership;
  readonly sources: readonly Pick<RepositoryLoop, 'status'>[];
  readonly http: ControllerHttp | undefined;
  readonly supervisor: Supervisor;
  readonly emit: (event: ControllerEventBody) => void;
}

/**
 * Reports when everything was read (or could not be read) and published once, unless the controller was stopped before.
 * What is missing then is reported, and again when nothing is missing.
 */
export async function becomeReady(parts: ReadyParts): Promise<void> {
  const { decider, standby, publishedPlacements, readiness, http, supervisor } = parts;
  const { signal } = supervisor;
  const sourcesRead = readiness.whenSourcesRead(signal);
  await decider.whenPublished(signal);
  await standby?.whenPublished(signal);
  // The plugin endpoint is available from here on, even if a forge is down.
  if (!signal.aborted) publishedPlacements.markComplete();
  await sourcesRead;
  if (signal.aborted) return;
  if (report(parts).length > 0)
    supervisor.start('what is missing at the start', (stop) => untilComplete(parts, stop));
  http?.prepare();
}

async function untilComplete(parts: ReadyParts, signal: AbortSignal): Promise<void> {
  while (missingParts(parts).length > 0 && !signal.aborted)
    await sleep(parts.options.clock, LOOK_AGAIN_MS, signal);
  if (!signal.aborted) report(parts);
}

function report(parts: ReadyParts): readonly string[] {
  const missing = missingParts(parts);
  const publishes = parts.decider instanceof PublishPipeline && parts.leadership.isHeld;
  parts.emit({ kind: 'ready', missing, publishes });
  return missing;
}

/** What was not read or not published yet, in words. */
function missingParts({ decider, readiness, sources }: ReadyParts): readonly string[] {
  const problem = readiness.problem();
  const failed = sources
    .flatMap((loop) => loop.status())
    .filter(({ content, lastError }) => content === undefined || lastError !== undefined);
  return [
    ...(problem === undefined ? [] : [problem]),
    ...failed.map(({ name, content }) =>
      content === undefined
        ? `source ${name} could not be read`
        : `source ${name} failed after its last commit`,
    ),
    ...(decider instanceof PublishPipeline ? decider.unpublished() : []),
  ];
}
