import { formatLocation } from '@berth/runtime/problem/source-location';
import type { LogFields, Logger } from '@berth/runtime/logger';
import type { DeletionRecord } from '../../core/sync/deletion-record.ts';
import { describeProblem } from '../../core/sources/describe-problem.ts';
import type { ControllerEvent } from '../../controllers/events/controller-events.ts';

/** Writes one log entry per event, and one per problem of a commit with its position in Git. */
export function logEvent(log: Logger, event: ControllerEvent): void {
  switch (event.kind) {
    case 'commit-read':
      return logCommit(log, event);
    case 'decided':
      return logDecision(log, event);
    case 'published': {
      const { kind, atMs: _at, clusters, ...fields } = event;
      // Only added and removed clusters are named.
      log.info(TEXT[kind], withPlans({ ...fields, clusters: clusters.length }));
      return;
    }
    case 'synced':
    case 'pulled-work-written':
    case 'work-written': {
      const { kind, atMs: _at, ...fields } = event;
      log[isNotable(event) ? 'info' : 'debug'](TEXT[kind], withPlans(fields));
      return;
    }
    case 'application-set-refreshed':
    case 'application-set-waves':
    case 'cluster-secret-written':
      return logArgocd(log, event);
    case 'registration':
      return logRegistration(log, event);
    case 'add-on': {
      const { kind, atMs: _at, ...fields } = event;
      log[event.action === 'removals-held' ? 'warn' : 'info'](TEXT[kind], withPlans(fields));
      return;
    }
    case 'deleted':
      return logDeletion(log, event.record);
    case 'withdrawn': {
      const { source, object, because } = event;
      log.info(TEXT[event.kind], { source, object, because: `it ${because}` });
      return;
    }
    case 'hub-restored':
      log.warn(TEXT[event.kind], { how: event.how });
      return;
    case 'held':
    case 'pull-held': {
      const { kind, atMs: _at, message, ...fields } = event;
      log.warn(TEXT[kind], { ...withPlans(fields), explanation: message });
      return;
    }
    case 'sync-problem': {
      const { source, object, message: explanation, location, isHeld } = event;
      if (isHeld === true) log.warn('deletions held; the objects stay on the hub', { source, explanation });
      else log.warn(TEXT[event.kind], { source, object, ...(location && { location }), explanation });
      return;
    }
    case 'error':
      // The code that caught the error has logged it with more detail.
      return;
    case 'ready': {
      const { missing, publishes } = event;
      if (missing.length > 0)
        log.warn('the start is over, but not everything was read and published', { missing });
      else if (publishes) log.info('everything was read and published once');
      else log.info('everything was read once; another process publishes');
    }
  }
}

function logCommit(log: Logger, event: Extract<ControllerEvent, { kind: 'commit-read' }>): void {
  const { source, commit, objects, files, problems } = event;
  // At the start the checks come after the first publication, which must not wait for them.
  log.info('commit read and checked', {
    source,
    commit: commit?.id,
    author: commit?.author.name,
    objects,
    files,
    problems: problems.length,
  });
  for (const problem of problems) {
    const { severity, sentence, hint, location } = describeProblem(problem);
    const at = location === undefined ? undefined : formatLocation(location);
    log[severity === 'error' ? 'error' : 'warn']('problem in the source', {
      source,
      at,
      problem: sentence,
      hint,
    });
  }
}

function logDecision(
  log: Logger,
  { placement, result, added, removed }: Extract<ControllerEvent, { kind: 'decided' }>,
): void {
  // At a start all placements are decided, and most of them do not change.
  const isNotable = added.length + removed.length > 0 || result.outcome !== 'scheduled';
  log[isNotable ? 'info' : 'debug']('placement decided', {
    placement,
    outcome: result.outcome,
    clusters: result.selected.length,
    added,
    removed,
  });
}

function logArgocd(
  log: Logger,
  event: Extract<
    ControllerEvent,
    { kind: 'application-set-refreshed' | 'application-set-waves' | 'cluster-secret-written' }
  >,
): void {
  const { kind, atMs: _at, ...fields } = event;
  if (event.kind === 'application-set-refreshed')
    log[event.outcome === 'requested-again' ? 'warn' : 'info'](TEXT[kind], fields);
  else if (event.kind === 'application-set-waves') {
    const { applicationSet, placement, served, waiting, message: explanation } = event;
    log.info(TEXT[kind], { applicationSet, placement, served, waiting, explanation });
  } else {
    const { action, cluster, gitOpsCluster, secret: name } = event;
    // The logger redacts fields named secret.
    log.info(TEXT[kind], { action, cluster, gitOpsCluster, name });
  }
}

function logRegistration(log: Logger, event: Extract<ControllerEvent, { kind: 'registration' }>): void {
  const { kind, atMs: _at, ...fields } = event;
  const isTrouble = ['unreachable', 'clock-out-of-sync', 'deletion-held'].includes(event.action);
  log[isTrouble ? 'warn' : 'info'](TEXT[kind], fields);
}

function logDeletion(log: Logger, record: DeletionRecord): void {
  const fields = deletionFields(record);
  if (record.byOthers === true)
    log.warn('another client deleted an object that is in Git; Berth applies it again', fields);
  else log.info('object deleted from the hub', fields);
}

/** Whether the event reports a change. If an object keeps failing, the hub is compared at each poll, usually without one. */
function isNotable(event: ControllerEvent): boolean {
  return event.kind !== 'synced' || event.applied + event.pruned > 0 || event.released !== undefined;
}

function deletionFields({ source, object, commit, took, released }: DeletionRecord): LogFields {
  return {
    source,
    object,
    commit: commit?.id,
    author: commit?.author,
    ...took,
    ...(released !== null && { released: withPlans(released) }),
  };
}

/** An approval code is not a secret, but the logger redacts fields named token. */
function withPlans(fields: LogFields): LogFields {
  const { token: plan, released, ...rest } = fields;
  return {
    ...rest,
    ...(plan !== undefined && { plan }),
    ...(released !== undefined && { released: withPlans(released as LogFields) }),
  };
}

const TEXT = {
  published: 'decision published',
  synced: 'hub follows the source',
  withdrawn: 'object left Git and stays on the hub, without what Git applied',
  'work-written': 'work written',
  'application-set-refreshed': 'ApplicationSet refresh',
  'application-set-waves': 'waves of an ApplicationSet',
  'cluster-secret-written': 'cluster Secret of Argo CD written',
  'pulled-work-written': 'work of an Application written',
  'pull-held': 'removal of Applications held; their works stay',
  'hub-restored': 'the hub was restored or replaced; Berth compares it with Git before it decides anything',
  registration: 'registration of a cluster',
  'add-on': 'add-on of a cluster',
  held: 'decision held; the last one stays published',
  'sync-problem': 'object not synced',
} as const;
