import { wrongOption } from './wrong-option.ts';

/**
 * Parses names of managed clusters, separated by commas. Removes duplicates and keeps the order.
 * @throws InputError when there is none
 */
export function clusterNames(option: string, text: string): readonly string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  if (names.length === 0)
    throw wrongOption(option, 'expected names of managed clusters, separated by commas');
  return names;
}
