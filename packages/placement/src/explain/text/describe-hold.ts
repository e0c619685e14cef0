import { formatNameList } from '@berth/runtime/text/name-list';
import type { HoldFinding } from '../verdict/explanation.ts';

/** The hold as lines of text. */
export function describeHold(hold: HoldFinding | undefined): readonly string[] {
  if (hold === undefined) return [];
  const { reason, message, published, wanted } = hold;
  const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : formatNameList(names));
  return [
    `Held (${reason}): published ${list(published)}; wanted ${list(wanted)}`,
    ...message.split('\n').map((line) => `  ${line}`),
    '',
  ];
}
