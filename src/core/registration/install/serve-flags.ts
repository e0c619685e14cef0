/** A flag with its values, as a shell would pass them: `--repo=URL`, or `--kind`, `/Secret`, `/ConfigMap`. */
type Flag = readonly string[];

/**
 * The flags that run, with others added. A flag that is given replaces the same flag that runs; repeated ones stay in
 * their order.
 */
export function addFlags(running: readonly string[], given: readonly string[]): readonly string[] {
  const added = flagsIn(given);
  const names = new Set(added.map(nameOf));
  return [...flagsIn(running).filter((flag) => !names.has(nameOf(flag))), ...added].flat();
}

/** What changes, one line a flag: `+ --repo=URL`, `- --poll 5s`. Empty: nothing. */
export function changedFlags(before: readonly string[], after: readonly string[]): readonly string[] {
  const [old, now] = [before, after].map((flags) => flagsIn(flags).map((flag) => flag.join(' ')));
  const without = (lines: readonly string[] = [], others: readonly string[] = []): readonly string[] =>
    lines.filter((line) => !others.includes(line));
  return [...without(old, now).map((line) => `- ${line}`), ...without(now, old).map((line) => `+ ${line}`)];
}

/** The value of a flag, of `--flag=value` or `--flag value`; the last one if it is repeated. */
export function flagValue(flags: readonly string[], name: string): string | undefined {
  const [first = '', second = ''] = flagsIn(flags).findLast((flag) => nameOf(flag) === name) ?? [];
  if (first === '') return undefined;
  return first === name ? second : first.slice(name.length + 1);
}

function flagsIn(args: readonly string[]): readonly Flag[] {
  const flags: string[][] = [];
  for (const arg of args) {
    const last = flags.at(-1);
    if (arg.startsWith('--') || last === undefined) flags.push([arg]);
    else last.push(arg);
  }
  return flags;
}

const nameOf = ([first = '']: Flag): string => first.split('=', 1)[0] ?? '';
