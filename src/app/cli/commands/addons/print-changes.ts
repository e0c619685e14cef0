import type { KubeApi } from '@berth/kube/model/kube-api';
import { printableLines } from '@berth/runtime/text/printable';
import type { SetChange } from '../../../../controllers/cluster-sets/set-change.ts';
import type { AddOnChange } from '../../../../controllers/addons/enabling/enable-addons.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import type { Command } from 'commander';

export interface ChangeFlags extends HubFlags {
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

export function addChangeFlags(command: Command): Command {
  return addHubFlags(
    command
      .option('--dry-run', 'print what would be done, and change nothing', false)
      .addOption(outputOption()),
  );
}

/** Plans everything before the first write, and prints what each write did, or the objects. */
export async function makeChanges(
  io: CliIo,
  flags: ChangeFlags,
  plan: (hub: KubeApi) => Promise<readonly (SetChange | AddOnChange)[]>,
): Promise<ExitCode> {
  const { dryRun, output } = flags;
  await withHub(io, flags, async (hub) => {
    const changes = await plan(hub);
    for (const change of changes) {
      if (!dryRun) await change.apply?.();
      if (output === 'table') io.stdout.write(printableLines(linesOf(change, dryRun)));
    }
    if (output === 'table') return;
    const objects = changes.flatMap((change) => ('object' in change ? [change.object] : []));
    if (output === 'json') io.stdout.write(await renderDocument(objects, 'json'));
    else
      io.stdout.write(
        (await Promise.all(objects.map((object) => renderDocument(object, 'yaml')))).join('---\n'),
      );
  });
  return 0;
}

function linesOf(change: SetChange | AddOnChange, dryRun: boolean): readonly string[] {
  const note = dryRun && change.apply !== undefined ? ' (dry run)' : '';
  const details = 'details' in change ? change.details : [];
  return [`${change.line}${note}`, ...(details ?? []).map((detail) => `  ${detail}`)];
}
