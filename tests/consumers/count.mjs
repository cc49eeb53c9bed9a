// Reads JTLs with parse-jtl and prints what it makes of each, a line of JSON: [{ label, count, failed }].
//
// usage: node count.mjs JTL...
import { relative } from 'node:path'
import jtl from 'parse-jtl'

for (const path of process.argv.slice(2)) {
  // It takes paths below the working directory only.
  const labels = Object.values(jtl.parse(relative(process.cwd(), path)).all)
  console.log(JSON.stringify(labels.map(({ label, samples, errors }) => ({ label, count: samples, failed: errors }))))
}
