import { resolve } from 'node:path';
import { onAbort } from '@berth/runtime/loop/sleep';
import type { Command } from 'commander';
import { type ServeSource, sourceNameOf } from '../../../../controllers/sources/progress/source-options.ts';
import { ADDON_DUTIES } from '../../../../core/addon/addon-duties.ts';
import {
  ACCEPT_NOBODY,
  compileAutoAcceptance,
} from '../../../../core/registration/acceptance/auto-acceptance.ts';
import { DUTIES } from '../../../../core/registration/duties.ts';
import type {
  ServeAddOnOptions,
  ServeOptions,
  ServeRegistrationOptions,
} from '../../../settings/serve-options.ts';
import type { SourceContext } from '../../../settings/serve-source.ts';
import type { SourceSettings } from '../../../settings/source-settings.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags } from '../../flags/hub-flags.ts';
import { addLogFlags, type LogFlags, openLog } from '../../flags/log-flags.ts';
import {
  durationOrNone,
  oneOf,
  positiveDuration,
  removalBudget,
  wrongOption,
  wrongValue,
} from '../../flags/option-values.ts';
import { packageVersion } from '../version.ts';
import type { CliCommand } from '../cli-command.ts';
import {
  addElectionFlags,
  announcementName,
  announcementOf,
  connectHub,
  type ElectionFlags,
  electionSettings,
  stopOnSignalOrLoss,
  writesToHub,
} from './elected-hub.ts';
import {
  addAdmissionFlags,
  addConflictFlags,
  addWorkFlags,
  checkSharing,
  addListenFlags,
  addServeArgocdFlags,
  type AdmissionFlags,
  admissionOptions,
  argocdOptions,
  checkListening,
  conflictRules,
  httpOptions,
  type ListenFlags,
  otlpOptions,
  type ServeArgocdFlags,
  type SourceFlags,
  sourcesOfFlags,
  type WorkFlags,
} from './serve-flags.ts';

interface ServeFlags
  extends HubFlags,
    SourceFlags,
    ElectionFlags,
    LogFlags,
    ServeArgocdFlags,
    RegistrationFlags,
    AdmissionFlags,
    WorkFlags,
    ListenFlags {
  readonly config?: string;
  readonly data: string;
  readonly sync: string;
  readonly schedule: string;
  readonly embedded: boolean;
  readonly dryRuns: boolean;
  readonly decisionReasons: boolean;
  readonly multiclusterDecisions: boolean;
  readonly removalBudget: string;
  readonly deletionWindow: string;
  readonly staleAfter: string;
  readonly poll: string;
  readonly printRbac: boolean;
}

const KIND_HELP =
  'also apply objects of this kind, in addition to OCM’s kinds and namespaces; /KIND for the core group, * for all';

const EXAMPLES = `
Exit codes: 0 stopped by a signal, 1 wrong flags or settings, or not stopped after 8 s, 3 another process took the Lease
(start it again: it becomes a standby). Berth retries after every other error.

Examples:
  berth serve --repo https://git.example.org/fleet.git --ref main --kubeconfig hub.kubeconfig --data /var/lib/berth
  berth serve --repo ./fleet --data .berth --listen 127.0.0.1:8080 --token-file plugin-tokens
  berth serve --repo URL --data .berth --listen :8080 --webhook github=github-secret
  berth serve --repo URL --listen :8443 --tls-cert tls.crt --tls-key tls.key --token-file tokens.yaml
  berth serve --config sources.yaml --data /var/lib/berth        # several repositories: docs/git-sources.md
  berth serve --config sources.yaml --listen :8080 --webhook gitea=secret --public-url URL # plans on pull requests: docs/previews.md
  berth serve --repo URL --argocd-refresh --argocd-cluster-secrets --argocd-cluster-label region
  berth serve --repo URL --sync observe --schedule upstream      # Argo CD applies Git to the hub, OCM decides
  berth serve --repo URL --argocd-pull                           # the pull model: clusters run their Applications themselves
  berth serve --repo URL --registration all                      # clusters join without OCM’s registration controller
  berth serve --repo URL --registration all --admission-listen :9443 # and clusters are checked without OCM’s webhooks
  berth serve --embedded --registration all                      # the same, without Git
  berth serve --print-rbac --config sources.yaml                 # the permissions that it needs with these flags, with reasons
`;

export const serveCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('serve')
      .description(
        'run the controller: Git to hub, placement decisions, works, plugin endpoint (until stopped)',
      );
    addHubFlags(command)
      .option(
        '--repo <url...>',
        'Git repositories: https://, ssh://, file:// or a local path; NAME=URL gives one a name',
      )
      .option(
        '--config <file>',
        'file with several sources and their settings, instead of --repo and its flags',
      )
      .option(
        '--ref <ref>',
        'branch, also as refs/heads/NAME; tag:NAME or refs/tags/NAME; semver:RANGE; a full commit id (default: the remote’s default branch)',
      )
      .option('--path <glob...>', 'read only files that match')
      .option('--git-token-file <file>', 'token for https')
      .option('--git-ssh-key <file>', 'private key for ssh; needs --git-known-hosts')
      .option('--git-known-hosts <file>', 'host keys for ssh')
      .option('--data <dir>', 'mirrors, history and state', '.berth')
      .option('--sync <mode>', 'apply: Berth applies Git to the hub; observe: another tool does', 'apply')
      .option(
        '--schedule <mode>',
        'berth: Berth decides placements; upstream: OCM’s controller does',
        'berth',
      );
    addWorkFlags(addConflictFlags(command))
      .option('--kind <group/kind...>', KIND_HELP, [])
      .option(
        '--embedded',
        'the hub is an embedded hub: apply recorded status from Git, and create namespaces',
        false,
      )
      .option(
        '--no-dry-runs',
        'plans of pull requests do not ask the hub by dry runs what it would hold (settings of a source: preview.dryRuns)',
      )
      .option(
        '--decision-reasons',
        'PlacementDecisions say why each cluster is selected (settings file: decisionReasons)',
        false,
      )
      .option(
        '--multicluster-decisions',
        'also write each placement’s clusters as PlacementDecisions of multicluster.x-k8s.io, by their ClusterProfiles',
        false,
      )
      .option('--removal-budget <n|n%>', 'how much one change may remove from a placement', '25%')
      .option(
        '--deletion-window <duration>',
        'deletions of a source within this time count together toward its budget; 0: each counts alone',
        '10m',
      )
      .option('--stale-after <duration>', 'hold all changes if the hub has not answered for this long', '5m')
      .option('--poll <duration>', 'how often Git is polled', '60s');
    addListenFlags(command);
    addAdmissionFlags(addRegistrationFlags(addServeArgocdFlags(command)));
    addLogFlags(addElectionFlags(command))
      .option('--print-rbac', 'print the roles that the controller needs with these flags, and exit', false)
      .addHelpText('after', EXAMPLES)
      .action(run((io, flags: ServeFlags) => runServe(io, flags)));
  },
};

async function runServe(io: CliIo, flags: ServeFlags): Promise<ExitCode> {
  const sync = oneOf('--sync', flags.sync, ['apply', 'observe'] as const);
  const schedule = oneOf('--schedule', flags.schedule, ['berth', 'upstream'] as const);
  if (flags.printRbac) return printRbac(io, flags, { sync, schedule });
  const isWithoutSources = flags.repo === undefined && flags.config === undefined;
  if (isWithoutSources ? !isForClusters(flags) : flags.repo !== undefined && flags.config !== undefined)
    throw wrongOption(
      '--repo',
      `got ${isWithoutSources ? 'neither' : 'both'}, expected either --repo or --config; both may be left out with --registration or --addons`,
    );
  checkListening(flags);
  const settings = {
    budget: removalBudget('--removal-budget', flags.removalBudget),
    schedule,
    deletionWindowMs: durationOrNone('--deletion-window', flags.deletionWindow),
    staleAfterMs: positiveDuration('--stale-after', flags.staleAfter),
    pollIntervalMs: positiveDuration('--poll', flags.poll),
    embedded: flags.embedded,
    ...{ works: flags.works, dryRuns: flags.dryRuns, multiclusterDecisions: flags.multiclusterDecisions },
    ...{ argocd: argocdOptions(flags), admission: admissionOptions(flags) },
    dataDir: resolve(io.cwd, flags.data),
    otlp: otlpOptions(flags, io.env),
    ...(flags.listen === undefined ? {} : { http: httpOptions(flags.listen, flags) }),
  };
  const sourcesIn = await readSources(io, flags, sync);
  const [registration, addons] = [registrationOptions(flags), addOnOptions(flags)];
  const writing = { ...settings, registration, addons, ...sourcesIn };
  const election = electionSettings(flags, writing);
  checkSharing(flags, election !== undefined);
  const shutdownDelayMs = durationOrNone('--shutdown-delay', flags.shutdownDelay);
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const { closesAtFailure, serveController } = await import('../../../serve/serve-controller.ts');
  const { logEvent } = await import('../../../serve/log-event.ts');
  const hub = await connectHub(io, flags, { election, clock, log: await openLog(io, flags) });
  const { api, elector, log } = hub;
  const sources = sourcesIn.open({ api, dataDir: settings.dataDir, nowMs: () => clock.now() });
  const options: ServeOptions = {
    ...settings,
    decisionReasons: sourcesIn.decisionReasons ?? flags.decisionReasons,
    registration: registration && { ...registration, clock },
    addons: addons && { ...addons, clock },
    sources,
    ...{ api, reviews: hub.unguarded, actAs: hub.actAs, leadership: elector },
    hubProblem: hub.problem,
    announcement: writesToHub(writing) ? announcementOf(settings.dataDir, election?.lease) : undefined,
    ...{ clock, log, random: Math.random, workElections: flags.shareWorks ? hub.works : undefined },
    engineVersion: await packageVersion(),
    env: io.env,
  };
  const fleet = await serveController(options).catch(closesAtFailure(() => hub.close()));
  io.stopLater?.(shutdownDelayMs, () => {
    log.info('the process ends soon', { after: flags.shutdownDelay });
    fleet.announceEnd();
  });
  // Started after all listeners for a take-over have subscribed.
  elector?.start();
  const isLost = stopOnSignalOrLoss(io.signal, elector, () => void fleet.close());
  onAbort(io.cutOff, () => {
    api.close();
    fleet.cutOff();
  });
  log.info('controller started', {
    hub: api.server,
    listen: fleet.url,
    ...(fleet.url !== undefined && { dashboard: `${fleet.url}/` }),
    sources: sources.map(({ url }) => url),
  });
  for await (const event of fleet.events) logEvent(log, event);
  await hub.close();
  return isLost() ? 3 : 0;
}

/** Clusters can join and placements can be decided without a repository. */
function isForClusters({ registration, addons }: ServeFlags): boolean {
  return registration !== undefined || addons !== undefined;
}

async function printRbac(
  io: CliIo,
  flags: ServeFlags,
  modes: { readonly sync: 'apply' | 'observe'; readonly schedule: 'berth' | 'upstream' },
): Promise<ExitCode> {
  const { APPLIED_KIND_PERMISSION, PREVIEWED_KIND_PERMISSION, renderControllerRbac } = await import(
    '../../../../core/rbac/controller-rbac.ts'
  );
  const { readSettings, secretsOf } = await import('../../../settings/read-settings.ts');
  const { listedPermissions } = await import('../../../../core/rbac/listed-kinds.ts');
  const { knownResources } = await import('../../flags/hub-flags.ts');
  const { config, works, embedded, multiclusterDecisions, shareWorks } = flags;
  const sources = config === undefined ? [] : await readSettings(resolve(io.cwd, config));
  const given = config === undefined ? sourcesOfFlags(flags, modes.sync, io.cwd) : sources;
  const names = namesOf(given);
  const syncs = config === undefined ? [modes.sync] : sources.map(({ sync = modes.sync }) => sync);
  const argocd = argocdOptions(flags);
  // Flags without a repository that cannot be run as they are mean any repository.
  const hasSources = given.length > 0 || !isForClusters(flags);
  const applies = hasSources && syncs.includes('apply');
  const registration = registrationOptions(flags);
  const admission = admissionOptions(flags);
  const addons = addOnOptions(flags);
  const { schedule } = modes;
  const features = { works, embedded, multiclusterDecisions };
  const duties = { applies, schedule, ...features, argocd, registration, addons, admission };
  const lease = electionSettings(flags, { ...duties, names })?.lease;
  checkSharing(flags, lease !== undefined);
  const listed =
    config === undefined ? flags.kind : sources.flatMap((source) => appliedKindsOf(source, modes.sync));
  const isPreviewed = sources.some(({ preview }) => preview !== undefined);
  const right = isPreviewed ? PREVIEWED_KIND_PERMISSION : APPLIED_KIND_PERMISSION;
  const kinds = listedPermissions(listed, knownResources(), right);
  io.stdout.write(
    renderControllerRbac({
      ...{ ...duties, lease, sharesWorks: shareWorks, listens: flags.listen !== undefined },
      announcement: writesToHub(duties) ? { lease: lease && announcementName(lease) } : undefined,
      kinds,
      secrets: secretsOf(sources),
    }),
  );
  return 0;
}

/** Without sources, the name of the default source. */
function namesOf(sources: readonly Parameters<typeof sourceNameOf>[0][]): readonly string[] {
  return sources.length === 0 ? [sourceNameOf({})] : sources.map(sourceNameOf);
}

function appliedKindsOf(
  { sync, kinds = [] }: Pick<SourceSettings, 'sync' | 'kinds'>,
  otherwise: SourceSettings['sync'],
): readonly string[] {
  return (sync ?? otherwise) === 'apply' ? kinds : [];
}

/** From the settings file, or from the flags. Errors are reported before a hub is contacted. */
async function readSources(io: CliIo, flags: ServeFlags, sync: ServeSource['sync']): Promise<ReadSources> {
  if (flags.config === undefined) {
    const sources = sourcesOfFlags(flags, sync, io.cwd);
    const applies = sync === 'apply' && sources.length > 0;
    return { names: namesOf(sources), applies, open: () => sources };
  }
  const { readAllSettings } = await import('../../../settings/read-settings.ts');
  const { serveSource } = await import('../../../settings/serve-source.ts');
  const { sources: read, decisionReasons } = await readAllSettings(resolve(io.cwd, flags.config));
  const rules = conflictRules(flags);
  const settings = read.map((source) => ({ sync, ...rules, ...source }));
  return {
    decisionReasons,
    names: settings.map(sourceNameOf),
    applies: settings.some((source) => source.sync !== 'observe'),
    open: (context) => settings.map((source) => serveSource(source, context)),
  };
}

interface ReadSources {
  /** Absent: the flag decides. */
  readonly decisionReasons?: boolean | undefined;
  readonly names: readonly string[];
  /** Whether Berth applies at least one source. */
  readonly applies: boolean;
  readonly open: (context: SourceContext) => readonly ServeSource[];
}

/** Flags for what `berth serve` does for clusters that join. */
interface RegistrationFlags {
  readonly registration?: readonly string[];
  readonly autoAcceptUser?: readonly string[];
  readonly autoAcceptRule?: readonly string[];
  readonly addons?: readonly string[];
}

function addRegistrationFlags(command: Command): Command {
  return command
    .option(
      '--registration <controller...>',
      `run these registration controllers, for a hub without OCM’s: ${DUTIES.join(', ')}; all (docs/registration.md)`,
    )
    .option(
      '--addons <controller...>',
      `run these controllers of add-ons, for a hub without OCM’s add-on manager: ${ADDON_DUTIES.join(', ')}; all (docs/addons.md)`,
    )
    .option('--auto-accept-user <user...>', 'users whose clusters are accepted without approval')
    .option(
      '--auto-accept-rule <cel...>',
      'CEL: accept a cluster if this is true of managedCluster and request (username, groups, uid, extra)',
    );
}

/**
 * Undefined: Berth runs no registration controllers, which is the default.
 *
 * @throws InputError for flags that cannot be used
 */
export function registrationOptions(
  flags: RegistrationFlags,
): Omit<ServeRegistrationOptions, 'clock'> | undefined {
  const { registration = [], autoAcceptUser: users = [], autoAcceptRule: rules = [] } = flags;
  const duties = dutiesOf('--registration', registration, DUTIES);
  const decides = duties.includes('acceptance') || duties.includes('approval');
  if (!decides && users.length + rules.length > 0)
    throw wrongOption(
      users.length > 0 ? '--auto-accept-user' : '--auto-accept-rule',
      'has no effect without --registration acceptance approval',
    );
  if (duties.length === 0) return undefined;
  const autoAcceptance = decides ? compileAutoAcceptance(users, rules) : ACCEPT_NOBODY;
  return { duties, autoAcceptance };
}

/** Undefined: Berth does not manage add-ons, which is the default. */
export function addOnOptions({
  addons = [],
}: Pick<RegistrationFlags, 'addons'>): Omit<ServeAddOnOptions, 'clock'> | undefined {
  const duties = dutiesOf('--addons', addons, ADDON_DUTIES);
  return duties.length === 0 ? undefined : { duties };
}

/** The duties that a flag names, in their order. */
function dutiesOf<Duty extends string>(
  flag: string,
  texts: readonly string[],
  all: readonly Duty[],
): readonly Duty[] {
  for (const text of texts)
    if (text !== 'all' && !all.some((known) => known === text))
      throw wrongValue(flag, text, `${all.join(', ')} or all`);
  return texts.includes('all') ? all : all.filter((known) => texts.some((text) => text === known));
}
