import { readFileSync } from 'node:fs';

/** test/house/limits.json: what the source may reach, each number as it was when the limit was set last. */
export interface Limits {
  /** By package, and by room of `src`; `product` is src and plugin, `everything` also packages. */
  readonly packages: Readonly<Record<string, Limit>>;
  /** By behaviour: the files of the source that it enters (test/e2e/entered-files.test.ts). */
  readonly behaviours: Readonly<Record<string, Limit>>;
  /** Files of more than 400 lines, each with the reason why it reads better as one. */
  readonly longFiles: Readonly<Record<string, string>>;
  /** Files of less than 25 lines, each with its reason. */
  readonly smallFiles: Readonly<Record<string, string>>;
  /** Files of less than 25 lines from the time before the rule. New ones need a reason. */
  readonly smallFilesToFold: readonly string[];
}

export interface Size {
  readonly files: number;
  readonly lines?: number;
}

export interface Limit extends Size {
  /** Why it is higher than it was. */
  readonly reason?: string;
}

export function readLimits(): Limits {
  return parseLimits(readFileSync(new URL('./limits.json', import.meta.url), 'utf8'));
}

export function parseLimits(text: string): Limits {
  return JSON.parse(text) as Limits;
}

/** A limit follows what is reached, down to this part of it. */
const SLACK = 0.01;

/**
 * What is wrong between a limit and what is there: it grew, or it shrank and the limit has not followed.
 * @param spare how many files the measurement itself may miss
 * @returns a sentence for the person who changed the source; undefined: nothing
 */
export function limitProblem(
  name: string,
  limit: Limit | undefined,
  size: Size,
  spare = 0,
): string | undefined {
  if (limit === undefined)
    return `${name}: no limit. Add {${describe(size)}} to test/house/limits.json: npm run limits -- --lower`;
  for (const [what, most, now] of [
    ['files', limit.files, size.files],
    ['lines', limit.lines ?? 0, size.lines ?? 0],
  ] as const) {
    if (now > most)
      return `${name}: ${now} ${what}, at most ${most}. Fold or delete ${now - most}, or raise the limit and say why in "reason"`;
    if (now < most - Math.max(most * SLACK, what === 'files' ? spare : 0))
      return `${name}: ${now} ${what}, and the limit is still ${most}. Lower it to ${now}: npm run limits -- --lower`;
  }
  return undefined;
}

/**
 * A limit that is raised gets a reason, and another one when it is raised again.
 * @returns what is higher than it was in an earlier version with the same reason, or with none; a sentence each
 */
export function limitsRaised(
  now: Readonly<Record<string, Limit>>,
  earlier: readonly Readonly<Record<string, Limit>>[],
): readonly string[] {
  return Object.entries(now).flatMap(([name, limit]) => {
    const compared = earlier
      .flatMap((version) => version[name] ?? [])
      .filter((one) => reasonOf(one) === reasonOf(limit));
    return (['files', 'lines'] as const).flatMap((what) => {
      const least = Math.min(...compared.map((one) => one[what] ?? Infinity));
      const number = limit[what] ?? 0;
      return number > least ? [`${name}: ${number} ${what}, and ${least} earlier: say why in "reason"`] : [];
    });
  });
}

function reasonOf({ reason = '' }: Limit): string {
  return reason.trim();
}

function describe({ files, lines }: Size): string {
  return `"files": ${files}${lines === undefined ? '' : `, "lines": ${lines}`}`;
}
