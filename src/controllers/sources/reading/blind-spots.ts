import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import { isUnreadable } from '../manifests/read-content.ts';
import type { ManifestSelection } from '../manifests/commit-listing.ts';
import { folderOf, HELM_CHART, isBelow } from '../manifests/special-folders.ts';
import type { FileVersionReading } from './file-readings.ts';
import type { EarlierReading } from './last-good.ts';

/** A place in a commit that cannot be read, so that an object may be in it without being seen. */
export interface BlindSpot {
  /** A file, for messages. */
  readonly place: string;
  /** Whether a path of the repository is a part of it. */
  readonly covers: (path: string) => boolean;
  /**
   * Whether it is known to declare objects: those that can be read now, or those of its last good version. False: no
   * version of it did. Undefined: only earlier commits tell.
   */
  readonly declaresObjects: boolean | undefined;
  /** Its text names an object that is in it. False for a link, whose target is unknown. */
  readonly hasText: boolean;
}

interface ReadFiles {
  readonly selection: ManifestSelection;
  readonly readings: ReadonlyMap<string, FileVersionReading>;
  /** Of each file that cannot be read. */
  readonly before: ReadonlyMap<string, EarlierReading>;
}

export function findBlindSpots({ selection, readings, before }: ReadFiles): readonly BlindSpot[] {
  const spots: BlindSpot[] = [];
  for (const path of selection.paths) {
    const reading = readings.get(path);
    if (reading === undefined || !isUnreadable(reading.parsed)) continue;
    const { inputFolders, parsed } = reading;
    const { good, everDeclared = false } = before.get(path) ?? {};
    const holds = parsed.manifests.length > 0 || (good?.parsed.manifests.length ?? 0) > 0;
    const declaresObjects = holds || (everDeclared ? undefined : false);
    spots.push(
      inputFolders === undefined
        ? { place: path, covers: (file) => file === path, declaresObjects, hasText: hasText(parsed) }
        : {
            place: path,
            covers: isBelowAny(inputFolders),
            declaresObjects: holds || undefined,
            hasText: true,
          },
    );
  }
  for (const { severity, code, location } of selection.problems) {
    if (severity !== 'error') continue;
    const place = location?.file ?? '';
    spots.push(
      code === HELM_CHART
        ? { place, covers: isBelow(folderOf(place)), declaresObjects: undefined, hasText: true }
        : { place, covers: isBelow(place), declaresObjects: undefined, hasText: false },
    );
  }
  return spots;
}

function isBelowAny(folders: readonly string[]): (path: string) => boolean {
  const all = folders.map(isBelow);
  return (path) => all.some((covers) => covers(path));
}

/** A file with a pointer of Git LFS does not have the text itself. */
function hasText({ problems }: ParsedFile): boolean {
  return !problems.some(({ code }) => code === 'source.lfs-pointer' || code === 'source.encoding');
}
