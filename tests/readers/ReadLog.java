import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/** Prints of each tag of an interval log: intervals, count, p50, p99 and maximum in microseconds; and when it began. */
class ReadLog {
    public static void main(String[] arguments) throws Exception {
        Map<String, Histogram> tags = new TreeMap<>();
        Map<String, Integer> intervals = new TreeMap<>();
        HistogramLogReader reader = new HistogramLogReader(new File(arguments[0]));
        while (reader.hasNext()) {
            EncodableHistogram interval = reader.nextIntervalHistogram();
            if (interval == null) {
                throw new IllegalStateException("an interval cannot be read");
            }
            String tag = interval.getTag() == null ? "" : interval.getTag();
            tags.computeIfAbsent(tag, unknown -> new Histogram(2)).add((Histogram) interval);
            intervals.merge(tag, 1, Integer::sum);
        }
        for (Map.Entry<String, Histogram> entry : tags.entrySet()) {
            Histogram all = entry.getValue();
            System.out.printf("%s %d %d %d %d %d%n", entry.getKey().isEmpty() ? "-" : entry.getKey(),
                intervals.get(entry.getKey()), all.getTotalCount(), all.getValueAtPercentile(50.0),
                all.getValueAtPercentile(99.0), all.getMaxValue());
        }
        System.out.printf("start %.3f%n", reader.getStartTimeSec());
    }
}
