import { Command } from 'commander';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { makeProgress } from '../../../src/app/terminal/terminal-output.ts';
import { runCli, COMMANDS } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';

function everyCommand(): { path: string[]; command: Command }[] {
  const program = new Command('berth');
  for (const command of COMMANDS) command.register(program, () => async () => undefined);
  const walk = (command: Command, path: string[]): { path: string[]; command: Command }[] => [
    { path, command },
    ...command.commands.flatMap((child) => walk(child, [...path, child.name()])),
  ];
  return walk(program, []).slice(1);
}

describe('every command', () => {
  it.each(everyCommand().map(({ path, command }) => ({ name: path.join(' '), path, command })))(
    'berth $name --help has examples and exit codes, and prints objects in every format',
    async ({ path, command }) => {
      const { io, stdout, stderr } = makeCliIo();
      expect(await runCli([...path, '--help'], io)).toBe(0);
      expect(stderr()).toBe('');
      expect(stdout()).toMatch(/\nExamples:\n {2}berth /);
      expect(stdout()).toMatch(/\nExit codes: 0 /);
      expect(stdout()).not.toMatch(/default: (?:false|\[\])/);
      const output = command.options.find(({ long }) => long === '--output');
      if (output !== undefined)
        expect(output.argChoices).toEqual(expect.arrayContaining(['table', 'json', 'yaml']) as string[]);
    },
  );

  it('that lists objects has one that describes them', () => {
    const words = (verb: string): readonly string[] =>
      everyCommand()
        .filter(({ path }) => path[0] === verb && path.length === 2)
        .flatMap(({ command }) => [command.name(), ...command.aliases()])
        .toSorted();
    const notListed = ['hub-info', 'token'];
    expect(words('describe')).toEqual(words('get').filter((word) => !notListed.includes(word)));
  });

  it('that only groups others shows an example of each of them', async () => {
    const { io, stdout } = makeCliIo();
    await runCli(['get', '--help'], io);
    const examples = stdout().split('\nExamples:\n')[1] ?? '';
    expect(examples).toContain('  berth get clusters\n');
    expect(examples).toContain('  berth get token --context hub\n');
    expect(examples).not.toContain('--help');
  });

  it('refuses a format that it does not have', async () => {
    const { io, stderr } = makeCliIo();
    expect(await runCli(['version', '-o', 'xml'], io)).toBe(1);
    expect(stderr()).toContain('Allowed choices are table, json, yaml');
  });
});

describe('progress', () => {
  const terminal = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY });

  it('is one line that is replaced and removed, on a terminal only', () => {
    const shown = terminal(true);
    const progress = makeProgress({ stderr: shown });
    progress.report('reading main');
    progress.report('deciding');
    progress.done();
    expect(String(shown.read())).toBe('\r\u001b[2Kreading main …\r\u001b[2Kdeciding …\r\u001b[2K');
    const piped = terminal(false);
    makeProgress({ stderr: piped }).report('reading main');
    expect(piped.read()).toBeNull();
  });
});
