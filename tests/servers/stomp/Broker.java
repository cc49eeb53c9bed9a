import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;
import org.apache.activemq.artemis.api.core.RoutingType;

/**
 * ActiveMQ Artemis with STOMP over WebSocket, in memory; prints its port. Topics under `topic/` are made when they are
 * asked for. A client that announces heart-beats and sends nothing for twice their time is dropped.
 */
public class Broker {
    public static void main(String[] folder) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Configuration configuration = new ConfigurationImpl()
            .setPersistenceEnabled(false)
            .setSecurityEnabled(false)
            .setJMXManagementEnabled(false)
            // It would answer in binary frames.
            .addAcceptorConfiguration("stomp", "tcp://127.0.0.1:" + port + "?protocols=STOMP;webSocketEncoderType=text")
            .addAddressSetting("topic/#", new AddressSettings().setDefaultAddressRoutingType(RoutingType.MULTICAST));
        configuration.setBrokerInstance(Path.of(folder[0]).toFile());
        EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
        broker.setConfiguration(configuration);
        broker.start();
        System.out.println(port);
        System.out.flush();
    }
}
