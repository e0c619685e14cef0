import { activeHold } from '../../../../core/publish/approval/active-hold.ts';
import { InputError } from '../../../../core/errors.ts';
import { CONFIG_MAP, PLACEMENT } from '../../../../core/model/kinds.ts';
import type { Placement } from '../../../../core/model/kind/placement.ts';
import type { KubeApi } from '../../../../core/ports.ts';
import {
  HELD_CONDITION,
  HELD_MESSAGE_ANNOTATION,
  HELD_TOKEN_ANNOTATION,
  RELEASE_ANNOTATION,
  RELEASED_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../../../core/publish/approval/publish-annotations.ts';
import { DEFAULT_NAMESPACE, parentOfSource } from '../../../../core/sync/apply-set.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { wrongValue } from '../../flags/wrong-option.ts';
import { releasingUser } from './releasing-user.ts';

interface ReleaseFlags extends HubFlags {
  readonly token: string;
  readonly source?: string;
  readonly namespace: string;
  readonly as?: string;
}

const EXAMPLES = `
Exit codes: 0 released, 1 error: nothing is held, or the token is not that of the hold.

Examples:
  berth release team-a/web --token 0a1b2c3d4e5f         # a held decision
  berth release --source fleet --token 0a1b2c3d4e5f     # held deletions of a source

The token is in the placement's ${HELD_CONDITION} condition and in berth status. It names exactly one change: if
the decision moves on meanwhile, it is held again under another token. In Git the same is done by the annotation
${RELEASE_ANNOTATION} on the placement, for deletions on any object of the source.
`;

export const releaseCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('release')
      .argument('[placement]', 'NAMESPACE/NAME')
      .description('approve a held change, once, and record who approved it');
    addHubFlags(command)
      .requiredOption('--token <token>', 'plan token of the held change')
      .option('--source <name>', 'release held deletions of this source instead of a placement')
      .option('--namespace <name>', 'with --source: namespace of the controller’s objects', DEFAULT_NAMESPACE)
      .option('--as <name>', 'a name for the record, beside the Kubernetes user that the hub knows')
      .addHelpText('after', EXAMPLES)
      .action(
        run((io, placement: string | undefined, flags: ReleaseFlags) => runRelease(io, placement, flags)),
      );
  },
};

async function runRelease(io: CliIo, placement: string | undefined, flags: ReleaseFlags): Promise<ExitCode> {
  if (!/^[0-9a-f]{12}$/.test(flags.token)) throw wrongValue('--token', flags.token, '12 hexadecimal digits');
  const options = { fieldManager: 'berth-release' };
  return withHub<ExitCode>(io, flags, async (hub) => {
    const by = await releasingUser(hub, flags.as);
    const releasedBy = { [RELEASED_BY_ANNOTATION]: `${by} at ${new Date().toISOString()}` };
    if (flags.source !== undefined)
      return releaseSource(io, hub, { ...flags, source: flags.source }, releasedBy);
    const [namespace, name, more] = (placement ?? '').split('/');
    if (
      namespace === undefined ||
      name === undefined ||
      namespace === '' ||
      name === '' ||
      more !== undefined
    )
      throw new InputError(`got ${JSON.stringify(placement ?? '')}, expected NAMESPACE/NAME (or --source)`, {
        code: 'cli.argument',
        subject: 'placement',
      });
    const found = (await hub.get(PLACEMENT, { namespace, name })) as unknown as Placement | undefined;
    requireHeld(found, `Placement ${namespace}/${name}`, flags.token);
    const annotations = { [RELEASED_ANNOTATION]: flags.token, ...releasedBy };
    await hub.mergePatch(PLACEMENT, { namespace, name }, { metadata: { annotations } }, options);
    io.stdout.write(`released ${namespace}/${name} (token ${flags.token})\n`);
    return 0;
  });
}

/** Held deletions. What is held is on the source's ApplySet: the controller writes it there. */
async function releaseSource(
  io: CliIo,
  hub: KubeApi,
  {
    source,
    namespace,
    token,
  }: { readonly source: string; readonly namespace: string; readonly token: string },
  releasedBy: Readonly<Record<string, string>>,
): Promise<ExitCode> {
  const key = parentOfSource(source, namespace);
  const subject = `source ${source}`;
  const parent = await hub.get(CONFIG_MAP, key);
  if (parent === undefined)
    throw new InputError(`has no ApplySet on the hub: no ConfigMap ${namespace}/${key.name}`, {
      code: 'release.source',
      subject,
      hint: 'the name of the source is that of its settings; --namespace names another namespace of the controller',
    });
  const { [HELD_TOKEN_ANNOTATION]: held, [HELD_MESSAGE_ANNOTATION]: message } =
    parent.metadata.annotations ?? {};
  if (held === '') throw new InputError('nothing is held', { code: 'release.not-held', subject });
  if (held !== undefined && held !== token)
    throw new InputError(`the token ${token} does not match the deletions that are held now, under ${held}`, {
      code: 'release.token',
      subject,
      hint: message,
    });
  const annotations = { [RELEASE_ANNOTATION]: token, ...releasedBy };
  await hub.mergePatch(CONFIG_MAP, key, { metadata: { annotations } }, { fieldManager: 'berth-release' });
  if (held === undefined)
    io.stderr.write(
      `Warning: the hub does not show what the controller holds (older versions do not write it): whether ${token} is the current token shows at its next pass (berth status)\n`,
    );
  io.stdout.write(
    `released ${subject} (token ${token}): the controller deletes at its next pass, unless it holds other deletions then\n`,
  );
  return 0;
}

/** A token of yesterday would do nothing, silently: say so. */
function requireHeld(placement: Placement | undefined, subject: string, token: string): void {
  if (placement === undefined)
    throw new InputError('does not exist on the hub', { code: 'release.placement', subject });
  const held = activeHold(placement);
  if (held === undefined) throw new InputError('nothing is held', { code: 'release.not-held', subject });
  if (!held.message.includes(token))
    throw new InputError(`the token ${token} does not match the change that is held now`, {
      code: 'release.token',
      subject,
      hint: held.message,
    });
}
