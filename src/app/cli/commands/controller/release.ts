import { userInfo } from 'node:os';
import { SELF_SUBJECT_REVIEW } from '@berth/kube/model/kinds';
import type { ObjectKey, KubeApi } from '@berth/kube/model/kube-api';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';
import { InputError } from '@berth/runtime/errors';
import { formatNameList } from '@berth/runtime/text/name-list';
import { looseGroup, setGroup } from '../../../../core/argocd/pull/pull-target.ts';
import { RELEASE_ANNOTATION } from '../../../../core/publish/approval/publish-annotations.ts';
import { DEFAULT_NAMESPACE } from '../../../../core/sync/apply-set.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { wrongOption, wrongValue } from '../../flags/option-values.ts';
import type { CliCommand } from '../cli-command.ts';

interface ReleaseFlags extends HubFlags {
  readonly token: string;
  readonly source?: string;
  readonly applicationSet?: string;
  readonly applications?: string;
  readonly addon?: string;
  readonly namespace: string;
  readonly as?: string;
}

const EXAMPLES = `
Exit codes: 0 released, 1 error: nothing is held, or the hold has another approval code.

Examples:
  berth release team-a/web --token 0a1b2c3d4e5f         # a held decision
  berth release --source fleet --token 0a1b2c3d4e5f     # held deletions of a source
  berth release --application-set argocd/shop --token 0a1b2c3d4e5f   # held removals of Argo CD's pull model
  berth release --applications argocd --token 0a1b2c3d4e5f           # for Applications without an ApplicationSet
  berth release --addon helloworld --token 0a1b2c3d4e5f              # held removal of an add-on from clusters

The approval code is in the placement's ${HELD_CONDITION} condition and in berth status. It identifies exactly one change: if
the decision changes meanwhile, it is held again under another code. In Git, do the same with the annotation
${RELEASE_ANNOTATION} on the placement, or for deletions on any object of the source.
`;

export const releaseCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('release')
      .argument('[placement]', 'NAMESPACE/NAME')
      .description('approve a held change, once, and record who approved it');
    addHubFlags(command)
      .requiredOption('--token <code>', 'approval code of the held change')
      .option('--source <name>', 'release held deletions of this source instead of a placement')
      .option(
        '--application-set <namespace/name>',
        'release held removals of the pulled Applications of this ApplicationSet',
      )
      .option(
        '--applications <namespace>',
        'release held removals of the pulled Applications in this namespace that belong to no ApplicationSet',
      )
      .option(
        '--addon <name>',
        'release the held removal of this add-on from clusters that left its placements',
      )
      .option('--namespace <name>', 'with --source: namespace of the controller’s objects', DEFAULT_NAMESPACE)
      .option('--as <name>', 'a name for the record, in addition to the Kubernetes user')
      .addHelpText('after', EXAMPLES)
      .action(
        run((io, placement: string | undefined, flags: ReleaseFlags) => runRelease(io, placement, flags)),
      );
  },
};

async function runRelease(io: CliIo, placement: string | undefined, flags: ReleaseFlags): Promise<ExitCode> {
  const { token: code, source } = flags;
  if (!/^[0-9a-f]{12}$/.test(code)) throw wrongValue('--token', code, '12 hexadecimal digits');
  const group = pullGroup(placement, flags);
  return withHub<ExitCode>(io, flags, async (hub) => {
    const by = await releasingUser(hub, flags.as);
    const release = { code, releasedBy: `${by} at ${new Date().toISOString()}` };
    if (group !== undefined) {
      const { releaseRemovals } = await import('../../../../controllers/releases/release-held.ts');
      const names = await releaseRemovals(hub, group, release);
      const removed = `${names.length} ManifestWorks are removed: ${formatNameList(names)}`;
      io.stdout.write(`released ${group} (approval code ${code}): ${removed}\n`);
      return 0;
    }
    if (flags.addon !== undefined) {
      const { releaseAddOnRemovals } = await import('../../../../controllers/releases/release-held.ts');
      const clusters = await releaseAddOnRemovals(hub, flags.addon, release);
      io.stdout.write(
        `released add-on ${flags.addon} (approval code ${code}): ${clusters.length} clusters lose it: ${formatNameList(clusters)}\n`,
      );
      return 0;
    }
    const held = await import('../../../../controllers/releases/release-held.ts');
    if (source !== undefined) {
      const { isShown } = await held.releaseDeletions(hub, { source, namespace: flags.namespace }, release);
      if (!isShown)
        io.stderr.write(
          `Warning: the hub does not show what the controller holds (older versions do not write it). After the next sync, berth status shows whether ${code} was the current code\n`,
        );
      io.stdout.write(
        `released source ${source} (approval code ${code}): the controller deletes at its next sync, unless it holds other deletions then\n`,
      );
      return 0;
    }
    const key = placementKey(placement);
    await held.releasePlacement(hub, key, release);
    io.stdout.write(`released ${key.namespace}/${key.name} (approval code ${code})\n`);
    return 0;
  });
}

/** @throws InputError for an argument other than `NAMESPACE/NAME` */
function placementKey(placement = ''): ObjectKey {
  const [namespace = '', name = '', more] = placement.split('/');
  if (namespace === '' || name === '' || more !== undefined)
    throw new InputError(`got ${JSON.stringify(placement)}, expected NAMESPACE/NAME (or --source)`, {
      code: 'cli.argument',
      subject: 'placement',
    });
  return { namespace, name };
}

/** The group whose held removals in the pull model of Argo CD are released; undefined for another kind of release. */
function pullGroup(placement: string | undefined, flags: ReleaseFlags): string | undefined {
  const { applicationSet: set, applications, source, addon } = flags;
  const subjects = [placement, source, set, applications, addon].filter((subject) => subject !== undefined);
  if (subjects.length > 1)
    throw wrongOption(
      subjects.join(' and '),
      'were given together, expected one of a placement, --source, --application-set, --applications, --addon',
    );
  if (set !== undefined && !/^[^/]+\/[^/]+$/.test(set))
    throw wrongValue('--application-set', set, 'NAMESPACE/NAME');
  if (set !== undefined) return setGroup(set);
  return applications === undefined ? undefined : looseGroup(applications);
}

/**
 * The name of the releasing user for the annotation. An annotation does not show its author, so the
 * client requests its own name from the hub and records it. A user who may write the annotation
 * could write another name; only the hub's audit log is proof.
 * @param as the name given by the user; undefined: none
 * @throws TransientError when the hub does not respond
 */
async function releasingUser(hub: KubeApi, as: string | undefined): Promise<string> {
  const user = await hubUser(hub);
  if (user === undefined)
    return `${as ?? userInfo().username} (Kubernetes user unknown: the hub has no SelfSubjectReview)`;
  const recorded = `Kubernetes user ${user}, as recorded by the client`;
  return as === undefined ? recorded : `${as} (${recorded})`;
}

/**
 * Undefined if the hub has no SelfSubjectReview (Kubernetes before 1.28), or this user may not
 * create one.
 */
async function hubUser(hub: KubeApi): Promise<string | undefined> {
  const review = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { name: '' },
  };
  try {
    const { status } = (await hub.create(SELF_SUBJECT_REVIEW, review)) as {
      status?: { userInfo?: { username?: string } };
    };
    return status?.userInfo?.username;
  } catch (error) {
    if (error instanceof InputError && ['kube.notfound', 'kube.forbidden'].includes(error.code))
      return undefined;
    throw error;
  }
}
