import type { FuncMap } from '../value/go-func.ts';
import { CODEC_FUNCTIONS } from './codec/codec-functions.ts';
import { DEFAULT_FUNCTIONS } from './collections/default-functions.ts';
import { DICT_FUNCTIONS } from './collections/dict-functions.ts';
import { LIST_FUNCTIONS } from './collections/list-functions.ts';
import { NAME_FUNCTIONS } from './name-functions.ts';
import { NUMBER_FUNCTIONS } from './numbers/number-functions.ts';
import { PATH_FUNCTIONS } from './path-functions.ts';
import { REFUSED_FUNCTIONS } from './refused-functions.ts';
import { REGEX_FUNCTIONS } from './regex-functions.ts';
import { SEMVER_FUNCTIONS } from './semver/semver-functions.ts';
import { SUM_FUNCTIONS } from './sum-functions.ts';
import { TEXT_FUNCTIONS } from './text/text-functions.ts';
import { DATE_FUNCTIONS } from './time/date-functions.ts';
import { URL_FUNCTIONS } from './url/url-functions.ts';

/**
 * The functions of ApplicationSets in addition to those of text/template: the generic functions of
 * sprig v3 without `env`, `expandenv` and `getHostByName`, and those of Argo CD
 * (applicationset/utils/utils.go).
 */
export const ARGO_CD_FUNCTIONS: FuncMap = new Map([
  ...TEXT_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...DICT_FUNCTIONS,
  ...DEFAULT_FUNCTIONS,
  ...CODEC_FUNCTIONS,
  ...REGEX_FUNCTIONS,
  ...SEMVER_FUNCTIONS,
  ...DATE_FUNCTIONS,
  ...URL_FUNCTIONS,
  ...PATH_FUNCTIONS,
  ...SUM_FUNCTIONS,
  ...NAME_FUNCTIONS,
  ...REFUSED_FUNCTIONS,
]);
