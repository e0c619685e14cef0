import type { Command } from 'commander';
import { InputError } from '@berth/runtime/errors';
import type { Listed } from '../../../../core/listing/listed.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { renderTextTable } from '../../../terminal/text-table.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { verbCommand, type CliCommand } from '../cli-command.ts';

export interface GetFlags extends HubFlags {
  readonly output: OutputFormat | 'wide';
}

/** The objects of a `berth get`. `list` renders the table of the objects that the arguments name. */
export interface ReadObjects {
  readonly objects: readonly KubeObject[];
  readonly list: (objects: readonly KubeObject[], nowMs: number) => Listed;
  /** The table of `-o wide`. */
  readonly listWide?: (objects: readonly KubeObject[]) => Listed;
}

export interface GetDefinition<Flags extends GetFlags> {
  /** The argument of `berth get`, such as `works`. */
  readonly plural: string;
  readonly aliases: readonly string[];
  /** The name in errors: `ManifestWork`. */
  readonly kind: string;
  readonly description: string;
  /** Lines of the help, without `berth get`. */
  readonly examples: readonly string[];
  /** Whether `-o wide` is a format. */
  readonly hasWide?: boolean;
  readonly addOptions?: (command: Command) => Command;
  readonly read: (hub: KubeApi, flags: Flags) => Promise<ReadObjects>;
}

/** A `berth get` command. It prints a table, or the objects as the hub has them. */
export function getCommand<Flags extends GetFlags>(definition: GetDefinition<Flags>): CliCommand {
  const { plural, aliases, description, examples, hasWide, addOptions = (command) => command } = definition;
  return {
    register(program, run) {
      const command = verbCommand(program, 'get', 'list objects of the hub')
        .command(`${plural} [name]`)
        .aliases([...aliases])
        .description(description)
        .addOption(outputOption(...(hasWide === true ? ['wide'] : [])));
      addHubFlags(addOptions(command))
        .addHelpText('after', helpText(examples))
        .action(run((io, name: string | undefined, flags: Flags) => get(io, name, flags, definition)));
    },
  };
}

function helpText(examples: readonly string[]): string {
  const lines = examples.map((example) => `  berth get ${example}`);
  return `\nExit codes: 0 listed, 1 error.\n\nExamples:\n${lines.join('\n')}\n`;
}

async function get<Flags extends GetFlags>(
  io: CliIo,
  name: string | undefined,
  flags: Flags,
  { plural, kind, read }: GetDefinition<Flags>,
): Promise<ExitCode> {
  const { systemClock } = await import('@berth/runtime/clock/system-clock');
  const { objects, list, listWide = list } = await withHub(io, flags, (hub) => read(hub, flags));
  const wanted = objects.filter(({ metadata }) => name === undefined || metadata.name === name);
  if (wanted.length === 0 && name !== undefined)
    throw new InputError('not found on the hub', {
      code: 'kube.notfound',
      subject: `${kind} ${name}`,
    });
  const { output } = flags;
  if (output !== 'table' && output !== 'wide') io.stdout.write(await renderDocument(wanted, output));
  else if (wanted.length === 0) io.stdout.write(`no ${plural}\n`);
  else {
    const { header, rows } = (output === 'wide' ? listWide : list)(wanted, systemClock.now());
    io.stdout.write(renderTextTable(header, rows));
  }
  return 0;
}
